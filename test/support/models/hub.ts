import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join, relative } from 'node:path'
import type { ExecutionContext } from 'ava'
import { listen } from '../tools/listen.ts'

/** A fault of the hub or its storage. It affects the answers for paths that match. */
export interface Fault {
  readonly path: RegExp
  /** The number of wrong answers that remain; Infinity: all answers. */
  times: number
  readonly kind:
    | { readonly status: number; readonly headers?: Readonly<Record<string, string>> }
    /** The connection breaks after this many bytes of the body, or stays open without further bytes. */
    | { readonly breaksAfter: number; readonly silent?: boolean }
    /** The body has only this many bytes. */
    | { readonly truncatedTo: number }
    | 'corrupt'
    | 'too long'
    /** The answer contains the whole file, whatever range was requested. */
    | 'no ranges'
    /** The redirect names another hash than the list of files. */
    | 'another content'
}

export interface TestHub {
  readonly url: URL
  readonly commit: string
  readonly faults: Array<Fault>
  /** The requests so far: `METHOD path` of the hub, `storage path range` of the storage. */
  readonly requests: ReadonlyArray<string>
  /** The sent bytes of bodies, by path in the repository. */
  readonly sent: ReadonlyMap<string, number>
  /** Replaces the content of a path of the repository. */
  readonly change: (path: string, content: Buffer) => void
}

const COMMIT = 'c0ffee'.repeat(6) + 'c0ff'
/** The real hub returns 1,000 entries per page. Fewer entries make several pages. */
const ENTRIES_PER_PAGE = 4

const sha256 = (content: Buffer): string => createHash('sha256').update(content).digest('hex')
const gitId = (content: Buffer): string =>
  createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex')

/** True for files that the hub stores outside git (LFS). */
const isLarge = (path: string): boolean => path.endsWith('.onnx') || path.includes('.onnx_data')

const readFolder = async (folder: string): Promise<Map<string, Buffer>> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const contents = paths.map(async (path) => [relative(folder, path), await readFile(path)] as const)
  return new Map(await Promise.all(contents))
}

const spoilt = (content: Buffer, fault: Fault['kind'] | undefined): Buffer => {
  const body = Buffer.from(content)
  if (fault === 'corrupt') body.writeUInt8((body.at(-1) ?? 0) ^ 1, body.length - 1)
  if (fault === 'too long') return Buffer.concat([body, Buffer.from('more')])
  return typeof fault === 'object' && 'truncatedTo' in fault ? body.subarray(0, fault.truncatedTo) : body
}

const sendJson = (response: ServerResponse, body: unknown, headers: Readonly<Record<string, string>> = {}): void => {
  response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

/** An entry of the list of files. */
const entryOf = ([path, body]: readonly [string, Buffer]) => {
  const entry = { type: 'file', size: body.length, path }
  if (!isLarge(path)) return { ...entry, oid: gitId(body) }
  const lfs = { oid: sha256(body), size: body.length, pointerSize: 134 }
  return { ...entry, oid: gitId(Buffer.from(`pointer to ${path}`)), lfs }
}

/**
 * Starts a server that answers like the Hugging Face hub. Lists of files have pages. `resolve` redirects small files to
 * a cache of the hub, and large files to a storage on another origin. The addresses of the storage are signed for each
 * request and support ranges. The model `id` consists of the files of `folder` and `more`.
 */
export const startHub = async (
  t: Pick<ExecutionContext, 'teardown'>,
  id: string,
  folder: string,
  more: Readonly<Record<string, Buffer>> = {},
): Promise<TestHub> => {
  const files = new Map([...(await readFolder(folder)), ...Object.entries(more)])
  const faults: Array<Fault> = []
  const requests: Array<string> = []
  const sent = new Map<string, number>()
  let signatures = 0

  /** Takes the next fault for this path. Only redirects have the fault `another content`. */
  const takeFault = (path: string, isRedirect = false): Fault['kind'] | undefined => {
    const fault = faults.find((candidate) =>
      candidate.times > 0 && candidate.path.test(path) && (candidate.kind === 'another content') === isRedirect)
    if (fault === undefined) return undefined
    fault.times -= 1
    return fault.kind
  }

  const write = (response: ServerResponse, path: string, body: Buffer, then: () => void): void => {
    sent.set(path, (sent.get(path) ?? 0) + body.length)
    response.write(body, then)
  }

  const sendFile = (
    { headers: { range } }: IncomingMessage,
    response: ServerResponse,
    path: string,
    fault: Fault['kind'] | undefined,
  ): void => {
    const content = files.get(path) ?? Buffer.alloc(0)
    const from = fault === 'no ranges' ? 0 : Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0)
    if (from > 0 && from >= content.length) return void response.writeHead(416).end()
    const etag = `"${isLarge(path) ? sha256(content) : gitId(content)}"`
    const contentRange = from === 0 ? {} : { 'content-range': `bytes ${from}-${content.length - 1}/${content.length}` }
    const body = spoilt(content.subarray(from), fault)
    const headers = { etag, 'accept-ranges': 'bytes', ...contentRange, 'content-length': body.length }
    response.writeHead(from === 0 ? 200 : 206, headers)
    if (typeof fault !== 'object' || !('breaksAfter' in fault))
      return write(response, path, body, () => response.end())
    // Bytes that the kernel has taken still arrive, so the connection breaks in the callback.
    const stop = (): void => void (fault.silent === true || response.destroy())
    write(response, path, body.subarray(0, fault.breaksAfter), stop)
  }

  /** Sends an error status if the fault has one. Returns whether it did. */
  const sendRefusal = (response: ServerResponse, fault: Fault['kind'] | undefined): boolean => {
    if (typeof fault !== 'object' || !('status' in fault)) return false
    response.writeHead(fault.status, fault.headers).end()
    return true
  }

  const storage = createServer((request, response) => {
    const path = decodeURIComponent((request.url ?? '').slice('/files/'.length).split('?', 1)[0] ?? '')
    requests.push(`storage ${path} ${request.headers.range ?? ''}`.trim())
    const fault = takeFault(path)
    if (!sendRefusal(response, fault)) sendFile(request, response, path, fault)
  })
  const storageUrl = await listen(t, storage)

  const sendList = (response: ServerResponse, url: URL): void => {
    const directory = { type: 'directory', oid: gitId(Buffer.from('tree')), size: 0, path: 'onnx' }
    const entries = [directory, ...[...files].map(entryOf)]
    const from = Number(url.searchParams.get('cursor') ?? 0)
    const next = new URL(url)
    next.searchParams.set('cursor', String(from + ENTRIES_PER_PAGE))
    const isLast = from + ENTRIES_PER_PAGE >= entries.length
    const link: Record<string, string> = isLast ? {} : { link: `<${next.href}>; rel="next"` }
    sendJson(response, entries.slice(from, from + ENTRIES_PER_PAGE), link)
  }

  const cachePath = `/api/resolve-cache/models/${id}/${COMMIT}/`

  const redirect = (response: ServerResponse, path: string): void => {
    const body = files.get(path)
    if (body === undefined)
      return void response.writeHead(404, { 'x-error-code': 'EntryNotFound' }).end('Entry not found')
    const commit = { 'x-repo-commit': COMMIT }
    if (!isLarge(path)) {
      const location = `${cachePath}${path}?etag=%22${gitId(body)}%22`
      return void response.writeHead(307, { ...commit, location }).end()
    }
    const hash = takeFault(path, true) === 'another content' ? '0'.repeat(64) : sha256(body)
    signatures += 1
    const query = `X-Amz-Expires=3600&X-Amz-Signature=${signatures}`
    const location = new URL(`/files/${path}?${query}`, storageUrl).href
    const linked = { 'x-linked-etag': `"${hash}"`, 'x-linked-size': String(body.length) }
    response.writeHead(302, { ...commit, ...linked, location }).end()
  }

  const hub = createServer((request, response) => {
    const url = new URL(request.url ?? '', `http://${request.headers.host}`)
    const { pathname, searchParams } = url
    requests.push(`${request.method} ${pathname}`)
    const fault = takeFault(pathname)
    if (sendRefusal(response, fault)) return
    if (pathname === `/api/models/${id}/revision/main`) return sendJson(response, { id, sha: COMMIT, siblings: [] })
    if (pathname === `/api/models/${id}/tree/${COMMIT}` && searchParams.get('recursive') === 'true')
      return sendList(response, url)
    const resolvePath = `/${id}/resolve/${COMMIT}/`
    if (pathname.startsWith(resolvePath)) return redirect(response, pathname.slice(resolvePath.length))
    if (pathname.startsWith(cachePath)) return sendFile(request, response, pathname.slice(cachePath.length), fault)
    // Without a login the real hub does not distinguish private repositories from unknown repositories.
    const headers = { 'x-error-code': 'RepoNotFound', 'x-error-message': 'Invalid username or password.' }
    response.writeHead(401, headers).end()
  })
  const hubUrl = new URL(await listen(t, hub))
  const change = (path: string, content: Buffer): void => void files.set(path, content)
  return { url: hubUrl, commit: COMMIT, faults, requests, sent, change }
}
