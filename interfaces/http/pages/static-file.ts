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

/** Of eleven; the last two take seconds for a percent. */
const BROTLI_QUALITY = 9

interface File {
  readonly content: string | Buffer
  /** Where the route serves files of several types. */
  readonly mediaType?: string
}

/** The body of an answer as the file that it is. */
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

/** By their content: there are as many as the product has files. */
const prepared = new Map<File['content'], Promise<Prepared>>()

/** Compressed when it is first asked for, then kept: all connections send the same bytes. */
const preparedOf = (content: File['content']): Promise<Prepared> => {
  const known = prepared.get(content) ?? prepare(content)
  prepared.set(content, known)
  return known
}

/** Answers a file of a page as small as the client can read it, or 304 where the client has it already. */
export const sendFile = async (ctx: Context, { content }: File): Promise<void> => {
  const { etag, variants } = await preparedOf(content)
  const encoding = SMALLEST_FIRST.find((one) => ctx.acceptsEncodings(one) === one) ?? 'identity'
  if (encoding !== 'identity') ctx.set('Content-Encoding', encoding)
  ctx.vary('Accept-Encoding')
  ctx.set('ETag', `"${etag}-${encoding}"`)
  if (ctx.response.get('Cache-Control') === 'no-store') ctx.set('Cache-Control', 'no-cache')
  if (ctx.fresh) ctx.status = 304
  else ctx.body = variants[encoding]
}
