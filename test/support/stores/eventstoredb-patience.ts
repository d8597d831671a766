/** Long time limits for tests that do not test the limits, because a busy machine may be slow. In milliseconds. */
export const PATIENT_LIMITS = { usual: 100_000, short: 100_000, suspicion: 0, confirmation: 30_000 }

/** A connection string with long keep-alive times. */
export const patientUrl = (url: string): string =>
  `${url}${url.includes('?') ? '&' : '?'}keepAliveInterval=60000&keepAliveTimeout=60000`
