const FORM = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d+))?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))$/

/**
 * Converts an RFC 3339 date-time to the stored form (UTC, with microseconds). Finer digits are cut off. Returns null
 * for anything else: no offset, a day or hour that does not exist, or a year that needs more than four digits in UTC.
 */
export const toInstant = (text: string): string | null => {
  const [, date = '', time = '', fraction = '', sign, hours = '0', minutes = '0'] = FORM.exec(text) ?? []
  const local = new Date(`${date}T${time}Z`)
  // Date turns 30 February into 1 or 2 March, and 24:00:00 into the next day.
  if (Number.isNaN(local.getTime()) || !local.toISOString().startsWith(`${date}T${time}`)) return null
  const offset = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes))
  const utc = new Date(local.getTime() - offset * 60_000).toISOString()
  return /^\d{4}-/.test(utc) ? `${utc.slice(0, 19)}.${fraction.slice(0, 6).padEnd(6, '0')}+00:00` : null
}
