/** Limits for tests that are not about deadlines: a busy machine may need its time. */
export const PATIENT_LIMITS = { usual: 100_000, short: 100_000, suspicion: 0, confirmation: 30_000 }

/** A connection string whose connection is not given up either. */
export const patient = (url: string): string =>
  `${url}${url.includes('?') ? '&' : '?'}keepAliveInterval=60000&keepAliveTimeout=60000`
