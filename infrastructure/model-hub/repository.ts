import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { boundedInteger, boundedString, object } from '../../domain/shared/codecs.ts'
import { HubError } from './hub-error.ts'
import type { HubHttp } from './hub-http.ts'
import { type Wait, withRetries } from './retries.ts'

/** The hash that the hub lists for a file: SHA-256 for large files, the git id for small files. */
export interface FileHash {
  readonly kind: 'sha256' | 'git'
  /** Hexadecimal. */
  readonly hex: string
}

/** A file of a repository, or of a local directory (hash null). */
export interface ListedFile {
  readonly path: string
  readonly size: number
  readonly hash: FileHash | null
}

export interface Repository {
  /** The commit of the listed files: 40 hexadecimal digits. */
  readonly commit: string
  readonly files: ReadonlyArray<ListedFile>
}

const commitId = boundedString(40, 40, /^[0-9a-f]{40}$/)
const bytes = boundedInteger(0, Number.MAX_SAFE_INTEGER)
const modelInfo = object({ sha: commitId })
/** For a large file (`lfs`), `oid` is the id of its pointer file and is ignored. */
const entry = object(
  { type: t.string, path: t.string, oid: t.string, size: bytes },
  { lfs: object({ oid: boundedString(64, 64, /^[0-9a-f]{64}$/), size: bytes }) },
)

/** A page holds a thousand entries. */
const MAX_PAGES = 50

const decode = <A>(codec: t.Decoder<unknown, A>, body: unknown, answer: string): A => {
  const decoded = codec.decode(body)
  if (E.isLeft(decoded)) throw new HubError(`the hub sent an invalid ${answer}`)
  return decoded.right
}

const toListedFile = ({ path, oid, size, lfs }: t.TypeOf<typeof entry>): ListedFile => {
  if (lfs !== undefined) return { path, size: lfs.size, hash: { kind: 'sha256', hex: lfs.oid } }
  if (!/^[0-9a-f]{40}$/.test(oid)) throw new HubError(`the hub lists no hash for ${path}`)
  return { path, size, hash: { kind: 'git', hex: oid } }
}

/** Whether a text has the form `owner/name` of a repository on the hub. */
export const isRepositoryId = (text: string): boolean =>
  /^[A-Za-z0-9][\w.-]{0,95}\/[A-Za-z0-9][\w.-]{0,95}$/.test(text) && !text.includes('..')

/** Lists the files of a model's repository at a branch, tag or commit. Throws HubError. */
export const readRepository = async (http: HubHttp, id: string, revision: string, wait: Wait): Promise<Repository> => {
  const infoUrl = http.url(`/api/models/${id}/revision/${encodeURIComponent(revision)}`)
  const model = await withRetries(wait, () => http.json(infoUrl))
  const commit = decode(modelInfo, model.body, `answer about ${id}`).sha
  const files: Array<ListedFile> = []
  let page: URL | null = http.url(`/api/models/${id}/tree/${commit}?recursive=true`)
  for (let pages = 0; page !== null && pages < MAX_PAGES; pages += 1) {
    const url: URL = page
    const { body, next } = await withRetries(wait, () => http.json(url))
    const entries = decode(t.readonlyArray(entry), body, `file list of ${id}`)
    files.push(...entries.filter(({ type }) => type === 'file').map(toListedFile))
    page = next
  }
  return { commit, files }
}

/** Returns the address of a file's content. For large files the hub redirects to its storage. */
export const contentUrl = (http: HubHttp, id: string, commit: string, path: string): URL =>
  http.url(`/${id}/resolve/${commit}/${path.split('/').map(encodeURIComponent).join('/')}`)
