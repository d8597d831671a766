import { ApiError } from '../../client/client.ts'
import { t } from '../messages/texts.ts'

interface Issue {
  readonly loc: ReadonlyArray<string | number>
  readonly msg: string
}

const detailOf = (error: ApiError): unknown => {
  const { body } = error
  return typeof body === 'object' && body !== null && 'detail' in body ? body.detail : undefined
}

/** Complaints about single fields of what was sent, by their name. */
export const fieldProblems = (error: unknown): Readonly<Record<string, string>> => {
  const detail = error instanceof ApiError ? detailOf(error) : undefined
  if (!Array.isArray(detail)) return {}
  return Object.fromEntries((detail as ReadonlyArray<Issue>).map(({ loc, msg }) =>
    [String(loc.at(-1)), msg.replace(/^Value error, /, '')]))
}

/** Seconds that the service asks to wait; 0 where it does not. */
export const waitOf = (error: unknown): number =>
  error instanceof ApiError ? Number(error.headers.get('Retry-After') ?? 0) : 0

/** Known sentences of the interface; the rest is told as it is. */
const told = (detail: string): string => {
  const memory = /^Not enough VRAM: ([\d.]+) MB required, ([\d.]+) MB available/.exec(detail)
  if (memory !== null) return t('no_memory', { needed: memory[1] ?? '', free: memory[2] ?? '' })
  if (detail.startsWith('Not enough compute')) return t('no_compute')
  const quota = /^Maximum number of sessions reached \((\d+)\)/.exec(detail)
  return quota === null ? detail : t('quota', { maximum: quota[1] ?? '' })
}

const byStatus = (error: ApiError): string | null => {
  if (error.status === 429) return t('wait_seconds', { seconds: waitOf(error) })
  if (error.status === 422) return t('fields_wrong')
  if (error.status === 503 && detailOf(error) === 'Service temporarily unavailable') return t('unavailable')
  return null
}

/** What went wrong, for people. */
export const problemText = (error: unknown): string => {
  if (!(error instanceof ApiError)) return error instanceof TypeError ? t('unreachable')
    : String(error instanceof Error ? error.message : error)
  const detail = detailOf(error)
  return byStatus(error) ?? (typeof detail === 'string' ? told(detail) : t('failed', { status: error.status }))
}

export const requestIdOf = (error: unknown): string | null =>
  (error instanceof ApiError ? error.headers.get('X-Request-ID') : null)
