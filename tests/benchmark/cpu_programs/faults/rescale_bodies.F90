! Three coordinates divided by the same number, element by element; without the fault, multiplied by its reciprocal.
program orbits
  implicit none
  integer :: n, steps, s, i
  character(len=20) :: text
  real(8), allocatable :: x(:), y(:), z(:), m(:)
  real(8) :: scale
  n = 4096
  steps = 250000
  if (command_argument_count() > 0) then
    call get_command_argument(1, text)
    read (text, *) steps
  end if
  allocate (x(n), y(n), z(n), m(n))
  do i = 1, n
    x(i) = i; y(i) = 2 * i; z(i) = 3 * i; m(i) = 1 + mod(i, 5)
  end do
  scale = 1.000001d0
  do s = 1, steps
    call rescale(n, x, y, z, scale)
  end do
  print *, x(7), y(7), z(7)
contains
  subroutine rescale(n, x, y, z, scale)
    integer, intent(in) :: n
    real(8), intent(inout) :: x(n), y(n), z(n)
    real(8), intent(in) :: scale
    integer :: i
#ifdef FIXED
    real(8) :: inverse
    inverse = 1 / scale
    do i = 1, n
      x(i) = x(i) * inverse
      y(i) = y(i) * inverse
      z(i) = z(i) * inverse
    end do
#else
    do i = 1, n
      x(i) = x(i) / scale
      y(i) = y(i) / scale
      z(i) = z(i) / scale
    end do
#endif
  end subroutine
end program
