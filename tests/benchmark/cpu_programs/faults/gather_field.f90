! Interpolates a field at scattered cells, whose numbers come in random order.
module field
contains
  subroutine gather(cells, values, out)
    integer, intent(in) :: cells(:)
    real(8), intent(in) :: values(:)
    real(8), intent(out) :: out(:)
    integer :: i
    do i = 1, size(cells)
      out(i) = 0.5d0 * values(cells(i)) + out(i)  ! FAULT
    end do
  end subroutine
end module
program main
  use field
  implicit none
  integer, parameter :: n = 12000000
  integer :: i, j, p, passes, hold
  integer, allocatable :: cells(:)
  real(8), allocatable :: values(:), out(:)
  real(8) :: r
  character(len=16) :: text
  logical :: fixed
  passes = 12
  if (command_argument_count() > 0) then
    call get_command_argument(1, text)
    read (text, *) passes
  end if
  allocate (cells(n), values(n), out(n))
  call get_environment_variable("FIXED", text)
  fixed = len_trim(text) > 0
  do i = 1, n
    cells(i) = i
    values(i) = i
  end do
  out = 0
  if (.not. fixed) then
    do i = n, 2, -1
      call random_number(r)
      j = 1 + int(r * i)
      hold = cells(i)
      cells(i) = cells(j)
      cells(j) = hold
    end do
  end if
  do p = 1, passes
    call gather(cells, values, out)
  end do
  print *, out(5)
end program
