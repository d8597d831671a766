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

/** Returns the error messages of single fields, by field name. */
export const fieldProblems = (error: unknown): Readonly<Record<string, string>> => {
  const detail = error instanceof ApiError ? detailOf(error) : undefined
  if (!Array.isArray(detail)) return {}
  return Object.fromEntries((detail as ReadonlyArray<Issue>).map(({ loc, msg }) =>
    [String(loc.at(-1)), msg.replace(/^Value error, /, '')]))
}

/** Returns the seconds of the header Retry-After; 0 without the header. */
export const waitOf = (error: unknown): number =>
  error instanceof ApiError ? Number(error.headers.get('Retry-After') ?? 0) : 0

/** Translates the known `detail` texts of the service. Other texts stay unchanged. */
const detailText = (detail: string): string => {
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

/** Returns the message of an error for the user. */
export const problemText = (error: unknown): string => {
  if (!(error instanceof ApiError)) return error instanceof TypeError ? t('unreachable')
    : String(error instanceof Error ? error.message : error)
  const detail = detailOf(error)
  return byStatus(error) ?? (typeof detail === 'string' ? detailText(detail) : t('failed', { status: error.status }))
}

export const requestIdOf = (error: unknown): string | null =>
  (error instanceof ApiError ? error.headers.get('X-Request-ID') : null)
