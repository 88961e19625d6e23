! Explicit heat equation on a square plate.
program heat_rows
  implicit none
  integer :: n, steps, i, j, s
  real(8), allocatable :: u(:,:), v(:,:)
  real(8) :: c
  character(len=16) :: arg
  n = 2000
  steps = 70
  if (command_argument_count() >= 2) then
    call get_command_argument(1, arg)
    read (arg, *) n
    call get_command_argument(2, arg)
    read (arg, *) steps
  end if
  allocate(u(n,n), v(n,n))
  u = 0
  u(:,1) = 100
  v = u
  c = 0.2d0
  do s = 1, steps
#ifdef FIXED
    do j = 2, n-1
      do i = 2, n-1
        v(i,j) = u(i,j) + c*(u(i-1,j) + u(i+1,j) + u(i,j-1) + u(i,j+1) - 4*u(i,j))
      end do
    end do
#else
    do i = 2, n-1
      do j = 2, n-1
        v(i,j) = u(i,j) + c*(u(i-1,j) + u(i+1,j) + u(i,j-1) + u(i,j+1) - 4*u(i,j))
      end do
    end do
#endif
    u = v
  end do
  print *, sum(u) / n
end program heat_rows
