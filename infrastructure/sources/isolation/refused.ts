/** The exit code of a decoder that was to be isolated where the system does not let it. */
export const REFUSED = 3
