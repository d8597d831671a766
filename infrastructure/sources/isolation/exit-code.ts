/** Exit code of a decoder that should be isolated on a system that does not allow it. */
export const NOT_ISOLATED_EXIT_CODE = 3
