import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { join, relative } from 'node:path'
import type { AddressInfo } from 'node:net'
import type { ExecutionContext } from 'ava'

/** What goes wrong with an answer of the hub or its storage whose path fits, so many times; then all is well. */
export interface Fault {
  readonly path: RegExp
  /** Infinity: for ever. */
  times: number
  readonly kind:
    | { readonly status: number; readonly headers?: Readonly<Record<string, string>> }
    /** The connection is cut after so many bytes of the body, or stays open and silent. */
    | { readonly breaksAfter: number; readonly silent?: boolean }
    /** Fewer bytes than the file has, said to be all. */
    | { readonly truncatedTo: number }
    | 'corrupt'
    | 'too long'
    /** The whole file, whatever part was asked for. */
    | 'no ranges'
    /** The redirect tells of another content than the list. */
    | 'another content'
}

export interface TestHub {
  readonly url: URL
  readonly commit: string
  readonly faults: Array<Fault>
  /** `METHOD path` of what was asked of the hub, and of the storage with the range. */
  readonly asked: ReadonlyArray<string>
  /** Bytes of bodies sent, by path in the repository. */
  readonly sent: ReadonlyMap<string, number>
  /** Puts another content under a path of the repository. */
  readonly change: (path: string, content: Buffer) => void
}

const COMMIT = 'c0ffee'.repeat(6) + 'c0ff'
/** The hub's pages hold 1,000 entries; ours few, so that there are several. */
const PAGE = 4

const listen = (t: Pick<ExecutionContext, 'teardown'>, server: Server): Promise<URL> =>
  new Promise((resolve) => {
    t.teardown(() => {
      server.closeAllConnections()
      server.close()
    })
    server.listen(0, '127.0.0.1', () => resolve(new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)))
  })

const sha256 = (content: Buffer): string => createHash('sha256').update(content).digest('hex')
const gitId = (content: Buffer): string => createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex')

/** Files as large ones (LFS) or as git's own, as the hub's attributes have it. */
const isLarge = (path: string): boolean => path.endsWith('.onnx') || path.includes('.onnx_data')

const folderFiles = async (folder: string): Promise<Map<string, Buffer>> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return new Map(await Promise.all(paths.map(async (path): Promise<[string, Buffer]> => [relative(folder, path), await readFile(path)])))
}

const spoilt = (content: Buffer, fault: Fault['kind'] | undefined): Buffer => {
  const body = Buffer.from(content)
  if (fault === 'corrupt') body.writeUInt8((body.at(-1) ?? 0) ^ 1, body.length - 1)
  if (fault === 'too long') return Buffer.concat([body, Buffer.from('more')])
  return typeof fault === 'object' && 'truncatedTo' in fault ? body.subarray(0, fault.truncatedTo) : body
}

/**
 * A server that answers as the hub does: the API about a model and its files in pages, `resolve` with a redirect to a cache of its own
 * for small files, and for large ones to a storage on another origin, whose addresses are signed anew each time and know ranges.
 * Its model `id` has the files of `folder` and `more`.
 */
export const startHub = async (
  t: Pick<ExecutionContext, 'teardown'>,
  id: string,
  folder: string,
  more: Readonly<Record<string, Buffer>> = {},
): Promise<TestHub> => {
  const files = new Map([...(await folderFiles(folder)), ...Object.entries(more)])
  const faults: Array<Fault> = []
  const asked: Array<string> = []
  const sent = new Map<string, number>()
  let signatures = 0

  const faultFor = (path: string, storage: boolean): Fault['kind'] | undefined => {
    const found = faults.find((fault) => fault.times > 0 && fault.path.test(path) && (fault.kind === 'another content') === !storage)
    if (found === undefined) return undefined
    found.times -= 1
    return found.kind
  }

  const write = (response: ServerResponse, path: string, body: Buffer, then: () => void): void => {
    sent.set(path, (sent.get(path) ?? 0) + body.length)
    response.write(body, then)
  }

  const content = (request: IncomingMessage, response: ServerResponse, path: string, fault: Fault['kind'] | undefined): void => {
    const whole = files.get(path) ?? Buffer.alloc(0)
    const asksFrom = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0)
    const from = fault === 'no ranges' ? 0 : asksFrom
    if (from > 0 && from >= whole.length) return void response.writeHead(416).end()
    const headers = { etag: `"${isLarge(path) ? sha256(whole) : gitId(whole)}"`, 'accept-ranges': 'bytes' }
    const range = from === 0 ? {} : { 'content-range': `bytes ${from}-${whole.length - 1}/${whole.length}` }
    const body = spoilt(whole.subarray(from), fault)
    response.writeHead(from === 0 ? 200 : 206, { ...headers, ...range, 'content-length': body.length })
    if (typeof fault !== 'object' || !('breaksAfter' in fault)) {
      return write(response, path, body, () => response.end())
    }
    // What the kernel has taken still arrives.
    write(response, path, body.subarray(0, fault.breaksAfter), () => void (fault.silent === true || response.destroy()))
  }

  const refused = (response: ServerResponse, fault: Fault['kind'] | undefined): boolean => {
    if (typeof fault !== 'object' || !('status' in fault)) return false
    response.writeHead(fault.status, fault.headers).end()
    return true
  }

  const storage = createServer((request, response) => {
    const path = decodeURIComponent((request.url ?? '').slice('/files/'.length).split('?', 1)[0] ?? '')
    asked.push(`storage ${path} ${request.headers.range ?? ''}`.trim())
    const fault = faultFor(path, true)
    if (!refused(response, fault)) content(request, response, path, fault)
  })
  const storageUrl = await listen(t, storage)

  const entryOf = ([path, body]: readonly [string, Buffer]) =>
    isLarge(path)
      ? { type: 'file', oid: gitId(Buffer.from(`pointer to ${path}`)), size: body.length, path, lfs: { oid: sha256(body), size: body.length, pointerSize: 134 } }
      : { type: 'file', oid: gitId(body), size: body.length, path }

  const tree = (response: ServerResponse, url: URL): void => {
    const entries = [{ type: 'directory', oid: gitId(Buffer.from('tree')), size: 0, path: 'onnx' }, ...[...files].map(entryOf)]
    const from = Number(url.searchParams.get('cursor') ?? 0)
    const next = new URL(url)
    next.searchParams.set('cursor', String(from + PAGE))
    const link = from + PAGE < entries.length ? { link: `<${next.href}>; rel="next"` } : {}
    response.writeHead(200, { 'content-type': 'application/json', ...link }).end(JSON.stringify(entries.slice(from, from + PAGE)))
  }

  const resolved = (response: ServerResponse, path: string): void => {
    const body = files.get(path)
    if (body === undefined) return void response.writeHead(404, { 'x-error-code': 'EntryNotFound' }).end('Entry not found')
    const common = { 'x-repo-commit': COMMIT }
    if (!isLarge(path)) {
      return void response.writeHead(307, { ...common, location: `/api/resolve-cache/models/${id}/${COMMIT}/${path}?etag=%22${gitId(body)}%22` }).end()
    }
    const linked = faultFor(path, false) === 'another content' ? '0'.repeat(64) : sha256(body)
    const location = new URL(`/files/${path}?X-Amz-Expires=3600&X-Amz-Signature=${(signatures += 1)}`, storageUrl).href
    response.writeHead(302, { ...common, 'x-linked-etag': `"${linked}"`, 'x-linked-size': String(body.length), location }).end()
  }

  const hub = createServer((request, response) => {
    const url = new URL(request.url ?? '', `http://${request.headers.host}`)
    asked.push(`${request.method} ${url.pathname}`)
    const fault = faultFor(url.pathname, true)
    if (refused(response, fault)) return
    if (url.pathname === `/api/models/${id}/revision/main`) {
      return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id, sha: COMMIT, siblings: [] }))
    }
    if (url.pathname === `/api/models/${id}/tree/${COMMIT}` && url.searchParams.get('recursive') === 'true') return tree(response, url)
    if (url.pathname.startsWith(`/${id}/resolve/${COMMIT}/`)) return resolved(response, url.pathname.split(`/resolve/${COMMIT}/`)[1] ?? '')
    const cached = `/api/resolve-cache/models/${id}/${COMMIT}/`
    if (url.pathname.startsWith(cached)) return content(request, response, url.pathname.slice(cached.length), fault)
    // Without a login it does not tell what is private from what is not there.
    response.writeHead(401, { 'x-error-code': 'RepoNotFound', 'x-error-message': 'Invalid username or password.' }).end()
  })
  return { url: await listen(t, hub), commit: COMMIT, faults, asked, sent, change: (path, body) => void files.set(path, body) }
}
