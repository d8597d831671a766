import { createHash, timingSafeEqual } from 'node:crypto'

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest()

/**
 * Whether a header Authorization (null: none was sent) holds the bearer token of those who may see metrics and the checks
 * of readiness. Without a token anybody may.
 */
export const observers = (token: string | null): ((authorization: string | null) => boolean) => {
  if (token === null) return () => true
  const wanted = sha256(token)
  return (authorization) => {
    const bearer = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1]
    return bearer !== undefined && timingSafeEqual(sha256(bearer), wanted)
  }
}
