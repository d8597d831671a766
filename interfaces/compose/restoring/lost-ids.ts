/** Ids of each kind to skip when nobody knows how many were given out in lost events. */
export const UNKNOWN_LOST_IDS = 1_000_000
