import { createHash } from 'node:crypto'
import type { Hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { HubError, WrongContent } from './hub-error.ts'
import type { HubHttp } from './hub-http.ts'
import { patiently } from './patience.ts'
import type { Wait } from './patience.ts'
import type { ListedFile } from './repository.ts'

/** The hash that vouches for a file and, for our own record, the SHA-256. */
interface Hashing {
  readonly update: (bytes: Uint8Array) => void
  /** The SHA-256. Throws WrongContent where the content is not what was vouched for. */
  readonly finish: () => string
}

const hashingOf = ({ path, size, hash }: ListedFile): Hashing => {
  const sha256 = createHash('sha256')
  // Git's id of a file: https://git-scm.com/book/en/v2/Git-Internals-Git-Objects
  const git: Hash | null = hash?.kind === 'git' ? createHash('sha1').update(`blob ${size}\0`) : null
  return {
    update: (bytes) => {
      sha256.update(bytes)
      git?.update(bytes)
    },
    finish: () => {
      const own = sha256.digest('hex')
      const found = git === null ? own : git.digest('hex')
      if (hash !== null && found !== hash.hex) throw new WrongContent(`${path} has the wrong hash: ${found}, not ${hash.hex}`)
      return own
    },
  }
}

/** The SHA-256 of a file of this machine, once it is known to be what was listed; null where it is not. */
export const sha256IfWhole = async (file: string, listed: ListedFile): Promise<string | null> => {
  const hashing = hashingOf(listed)
  let size = 0
  try {
    for await (const piece of createReadStream(file) as AsyncIterable<Buffer>) {
      size += piece.length
      hashing.update(piece)
    }
    return size === listed.size ? hashing.finish() : null
  } catch {
    return null
  }
}

interface Download {
  readonly http: HubHttp
  readonly url: URL
  readonly file: ListedFile
  /** Where it grows; what is there already is not fetched again. */
  readonly part: string
  /** Where it lies once it is whole. */
  readonly target: string
  /** Bytes of this file so far. */
  readonly onBytes: (bytes: number) => void
  readonly wait: Wait
}

const hashWhatIsThere = async (handle: FileHandle, hashing: Hashing): Promise<number> => {
  let size = 0
  for await (const piece of handle.createReadStream({ start: 0, autoClose: false }) as AsyncIterable<Buffer>) {
    size += piece.length
    hashing.update(piece)
  }
  return size
}

/** Whether the redirect and the answer are about the file that was listed, as far as they tell. */
const isListed = (file: ListedFile, linked: { readonly etag: string | null; readonly size: number | null }, total: string | undefined): boolean => {
  const sameHash = file.hash?.kind !== 'sha256' || linked.etag === null || linked.etag === file.hash.hex
  return sameHash && (linked.size ?? file.size) === file.size && (total === undefined || Number(total) === file.size)
}

/** Asks for what is missing. `from`: where the answer begins, 0 where the storage knows no ranges. */
const ask = async ({ http, url, file }: Download, have: number) => {
  const { response, linked } = await http.open(url, have === 0 ? {} : { range: `bytes=${have}-` })
  const [, start, total] = /^bytes (\d+)-\d+\/(\d+)$/.exec(response.headers['content-range'] ?? '') ?? []
  const from = response.statusCode === 206 ? Number(start) : 0
  const listed = isListed(file, linked, total)
  if (!listed || (from !== 0 && from !== have) || Number.isNaN(from)) {
    response.destroy()
    throw new HubError(`the hub lists another ${file.path} than it gives`, { passing: listed })
  }
  return { response, from }
}

/** Fetches what is missing of the part, appends it, and hashes the whole. Throws HubError. */
const attempt = async (download: Download): Promise<string> => {
  const { file, part, onBytes } = download
  const handle = await open(part, 'a+', 0o600)
  try {
    let hashing = hashingOf(file)
    let size = (await handle.stat()).size > file.size ? 0 : await hashWhatIsThere(handle, hashing)
    if (size === 0) await handle.truncate(0)
    onBytes(size)
    if (size < file.size) {
      const { response, from } = await ask(download, size)
      if (from !== size) {
        await handle.truncate(0)
        hashing = hashingOf(file)
        size = 0
      }
      try {
        for await (const piece of response as AsyncIterable<Buffer>) {
          if (size + piece.length > file.size) throw new WrongContent(`${file.path} is longer than the hub lists it`)
          await handle.appendFile(piece)
          hashing.update(piece)
          size += piece.length
          onBytes(size)
        }
      } catch (error) {
        // A full disk or a folder that is gone is not the network's doing.
        if (error instanceof HubError || (error instanceof Error && 'syscall' in error && error.syscall === 'write')) throw error
        throw new HubError(`${file.path} broke off after ${size} of ${file.size} bytes`, { passing: true })
      }
    }
    if (size < file.size) throw new HubError(`${file.path} ended after ${size} of ${file.size} bytes`, { passing: true })
    const sha256 = hashing.finish()
    await handle.sync()
    return sha256
  } finally {
    await handle.close()
  }
}

/**
 * Fetches a file, from where an earlier attempt or process stopped; only a whole one with the right hash is moved to `target`.
 * Answers its SHA-256. One with a wrong hash is fetched once more from its beginning. Throws HubError.
 */
export const downloadFile = async (download: Download): Promise<string> => {
  let most = 0
  let before = 0
  const counted: Download = {
    ...download,
    onBytes: (bytes) => {
      most = Math.max(most, bytes)
      download.onBytes(bytes)
    },
  }
  const madeProgress = (): boolean => {
    const progressed = most > before
    before = most
    return progressed
  }
  const fetchIt = (): Promise<string> => patiently(download.wait, () => attempt(counted), madeProgress)
  const again = async (error: unknown): Promise<string> => {
    if (!(error instanceof WrongContent)) throw error
    await rm(download.part, { force: true })
    return fetchIt()
  }
  const sha256 = await fetchIt().catch(again).catch(async (error: unknown) => {
    // What is wrong twice is of no use to the next attempt.
    if (error instanceof WrongContent) await rm(download.part, { force: true })
    throw error
  })
  await rename(download.part, download.target)
  return sha256
}
