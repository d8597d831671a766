import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { boundedInteger, boundedString, object } from '../../domain/shared/codecs.ts'
import { HubError } from './hub-error.ts'
import type { HubHttp } from './hub-http.ts'
import { patiently } from './patience.ts'
import type { Wait } from './patience.ts'

/** How the hub vouches for a file's content: large ones by SHA-256, the others by the id that git gives them. */
export interface FileHash {
  readonly kind: 'sha256' | 'git'
  /** Hexadecimal. */
  readonly hex: string
}

/** A file of a repository, or of a directory on this machine, of which nobody has vouched for anything (hash null). */
export interface ListedFile {
  readonly path: string
  readonly size: number
  readonly hash: FileHash | null
}

export interface Repository {
  /** 40 hexadecimal digits; what is listed is of this commit. */
  readonly commit: string
  readonly files: ReadonlyArray<ListedFile>
}

const commitId = boundedString(40, 40, /^[0-9a-f]{40}$/)
const bytes = boundedInteger(0, Number.MAX_SAFE_INTEGER)
const about = object({ sha: commitId })
/** `oid` of a large file is that of its pointer in git, so counts for nothing. */
const entry = object(
  { type: t.string, path: t.string, oid: t.string, size: bytes },
  { lfs: object({ oid: boundedString(64, 64, /^[0-9a-f]{64}$/), size: bytes }) },
)

/** A page holds a thousand entries. */
const MAX_PAGES = 50

const decode = <A>(codec: t.Decoder<unknown, A>, body: unknown, what: string): A => {
  const decoded = codec.decode(body)
  if (E.isLeft(decoded)) throw new HubError(`the hub's ${what} is not understood`)
  return decoded.right
}

const listed = ({ path, oid, size, lfs }: t.TypeOf<typeof entry>): ListedFile => {
  if (lfs !== undefined) return { path, size: lfs.size, hash: { kind: 'sha256', hex: lfs.oid } }
  if (!/^[0-9a-f]{40}$/.test(oid)) throw new HubError(`the hub does not vouch for ${path}`)
  return { path, size, hash: { kind: 'git', hex: oid } }
}

/** `owner/name` as the hub spells it. */
export const isRepositoryId = (text: string): boolean => /^[A-Za-z0-9][\w.-]{0,95}\/[A-Za-z0-9][\w.-]{0,95}$/.test(text) && !text.includes('..')

/** The files of a model's repository at what a branch, tag or commit means now. Throws HubError. */
export const readRepository = async (http: HubHttp, id: string, revision: string, wait: Wait): Promise<Repository> => {
  const model = await patiently(wait, () => http.json(http.url(`/api/models/${id}/revision/${encodeURIComponent(revision)}`)))
  const commit = decode(about, model.body, `answer about ${id}`).sha
  const files: Array<ListedFile> = []
  let page: URL | null = http.url(`/api/models/${id}/tree/${commit}?recursive=true`)
  for (let pages = 0; page !== null && pages < MAX_PAGES; pages += 1) {
    const url: URL = page
    const { body, next } = await patiently(wait, () => http.json(url))
    const entries = decode(t.readonlyArray(entry), body, `list of the files of ${id}`)
    files.push(...entries.filter(({ type }) => type === 'file').map(listed))
    page = next
  }
  return { commit, files }
}

/** Where a file's content is asked for; the answer is a redirect to the storage for large ones. */
export const contentUrl = (http: HubHttp, id: string, commit: string, path: string): URL =>
  http.url(`/${id}/resolve/${commit}/${path.split('/').map(encodeURIComponent).join('/')}`)
