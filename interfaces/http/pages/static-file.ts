import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Context } from 'koa'

const SMALLEST_FIRST = ['br', 'gzip'] as const
type Encoding = (typeof SMALLEST_FIRST)[number] | 'identity'

interface Prepared {
  readonly etag: string
  readonly variants: Readonly<Record<Encoding, Buffer>>
}

/** The maximum is 11. Levels 10 and 11 take seconds and save one percent. */
const BROTLI_QUALITY = 9

interface File {
  readonly content: string | Buffer
  /** Set when one route serves files of several types. */
  readonly mediaType?: string
}

/** Returns the body of a file route as a file. */
export const asFile = (body: unknown): File => (typeof body === 'string' ? { content: body } : (body as File))

const prepare = async (content: File['content']): Promise<Prepared> => {
  const identity = Buffer.from(content)
  const { BROTLI_PARAM_QUALITY: quality, BROTLI_PARAM_SIZE_HINT: size } = constants
  const [br, zipped] = await Promise.all([
    promisify(brotliCompress)(identity, { params: { [quality]: BROTLI_QUALITY, [size]: identity.length } }),
    promisify(gzip)(identity, { level: 9 }),
  ])
  const etag = createHash('sha256').update(identity).digest('base64url').slice(0, 22)
  return { etag, variants: { br, gzip: zipped, identity } }
}

/** Compressed files by content. The map is bounded by the number of files in the product. */
const prepared = new Map<File['content'], Promise<Prepared>>()

/** Compresses a file on the first request and keeps the result. */
const preparedOf = (content: File['content']): Promise<Prepared> => {
  const preparing = prepared.get(content) ?? prepare(content)
  prepared.set(content, preparing)
  return preparing
}

/** Sends a file with the smallest encoding that the client accepts, or 304 if the client already has the file. */
export const sendFile = async (ctx: Context, { content }: File): Promise<void> => {
  const { etag, variants } = await preparedOf(content)
  const encoding = SMALLEST_FIRST.find((name) => ctx.acceptsEncodings(name) === name) ?? 'identity'
  if (encoding !== 'identity') ctx.set('Content-Encoding', encoding)
  ctx.vary('Accept-Encoding')
  ctx.set('ETag', `"${etag}-${encoding}"`)
  if (ctx.response.get('Cache-Control') === 'no-store') ctx.set('Cache-Control', 'no-cache')
  if (ctx.fresh) ctx.status = 304
  else ctx.body = variants[encoding]
}
