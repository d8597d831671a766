import { createHash, timingSafeEqual } from 'node:crypto'

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest()

/**
 * Returns a check of the header Authorization (null: not sent) for readers of metrics and readiness checks. It compares
 * the bearer with `token` (METRICS_TOKEN). A null token allows everyone.
 */
export const createObserverCheck = (token: string | null): ((authorization: string | null) => boolean) => {
  if (token === null) return () => true
  const expected = sha256(token)
  return (authorization) => {
    const bearer = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1]
    return bearer !== undefined && timingSafeEqual(sha256(bearer), expected)
  }
}
