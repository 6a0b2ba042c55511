! SPDX-License-Identifier: LGPL-2.1-or-later
! libperfctr for Fortran 2003: regions with names, see perfctr_region_begin(3). Compile this file with the
! program, because module files of compilers differ:
!
!     use perfctr
!
!     call perfctr_region_begin("solver")
!     call solve(a, b)
!     call perfctr_region_end("solver")
!
! Blanks at the end of a name are ignored.
module perfctr
    use, intrinsic :: iso_c_binding, only: c_char, c_null_char
    implicit none
    private
    public :: perfctr_region_begin, perfctr_region_end

    interface
        subroutine c_begin(name) bind(c, name="perfctr_region_begin")
            import :: c_char
            character(kind=c_char), intent(in) :: name(*)
        end subroutine
        subroutine c_end(name) bind(c, name="perfctr_region_end")
            import :: c_char
            character(kind=c_char), intent(in) :: name(*)
        end subroutine
    end interface
contains
    subroutine perfctr_region_begin(name)
        character(len=*), intent(in) :: name

        call c_begin(trim(name) // c_null_char)
    end subroutine

    subroutine perfctr_region_end(name)
        character(len=*), intent(in) :: name

        call c_end(trim(name) // c_null_char)
    end subroutine
end module
