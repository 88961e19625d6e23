! Vertical columns of an atmosphere are corrected one after the other; fields are stored (column, level).
module physics
  implicit none
contains
  subroutine adjust(levels, temperature, humidity)
    integer, intent(in) :: levels
    real(8), intent(inout) :: temperature(levels)
    real(8), intent(in) :: humidity(levels)
    integer :: k
    do k = 2, levels
      if (temperature(k) > temperature(k-1) + 0.5d0) temperature(k) = temperature(k-1) + 0.5d0 - 0.01d0*humidity(k)
    end do
  end subroutine adjust
end module physics

program slice_copies
  use physics
  implicit none
  integer, parameter :: columns = 16384, levels = 128, steps = 130
  integer :: s, c
#ifdef FIXED
  real(8), allocatable :: t(:,:), q(:,:)
  allocate(t(levels, columns), q(levels, columns))
#else
  real(8), allocatable :: t(:,:), q(:,:)
  allocate(t(columns, levels), q(columns, levels))
#endif
  call random_number(q)
  t = 280 + 10*q
  do s = 1, steps
    do c = 1, columns
#ifdef FIXED
      call adjust(levels, t(:, c), q(:, c))
#else
      call adjust(levels, t(c, :), q(c, :))
#endif
    end do
    t = t + 0.001d0*q
  end do
  print *, sum(t) / size(t)
end program slice_copies
