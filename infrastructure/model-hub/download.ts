import { createHash, type Hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { HubError, WrongContent } from './hub-error.ts'
import type { HubHttp, LinkedFile } from './hub-http.ts'
import { type Wait, withRetries } from './retries.ts'
import type { ListedFile } from './repository.ts'

/** Computes the hash that the hub lists for a file, and the SHA-256 for our manifest. */
interface Hashing {
  readonly update: (bytes: Uint8Array) => void
  /** Returns the SHA-256. Throws WrongContent when the content differs from the listed hash. */
  readonly finish: () => string
}

const hashingOf = ({ path, size, hash }: ListedFile): Hashing => {
  const sha256 = createHash('sha256')
  // The hash that git uses as the id of a file: https://git-scm.com/book/en/v2/Git-Internals-Git-Objects
  const git: Hash | null = hash?.kind === 'git' ? createHash('sha1').update(`blob ${size}\0`) : null
  return {
    update: (bytes) => {
      sha256.update(bytes)
      git?.update(bytes)
    },
    finish: () => {
      const own = sha256.digest('hex')
      const found = git === null ? own : git.digest('hex')
      if (hash !== null && found !== hash.hex)
        throw new WrongContent(`${path} has the wrong hash: ${found}, not ${hash.hex}`)
      return own
    },
  }
}

/** Returns the SHA-256 of a local file, or null when it is missing or differs from the listed size or hash. */
export const sha256IfComplete = async (file: string, listed: ListedFile): Promise<string | null> => {
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
  /** Path of the incomplete file. The download continues after its last byte. */
  readonly part: string
  /** Path of the complete file. */
  readonly target: string
  /** Reports the number of bytes of this file so far. */
  readonly onBytes: (bytes: number) => void
  readonly wait: Wait
}

const hashExistingBytes = async (handle: FileHandle, hashing: Hashing): Promise<number> => {
  let size = 0
  for await (const piece of handle.createReadStream({ start: 0, autoClose: false }) as AsyncIterable<Buffer>) {
    size += piece.length
    hashing.update(piece)
  }
  return size
}

/** Whether the hash and the sizes in the headers, where present, equal the listed ones. */
const matchesListing = (file: ListedFile, linked: LinkedFile, total: string | undefined): boolean => {
  const hasSameHash = file.hash?.kind !== 'sha256' || linked.etag === null || linked.etag === file.hash.hex
  const hasSameTotal = total === undefined || Number(total) === file.size
  return hasSameHash && (linked.size ?? file.size) === file.size && hasSameTotal
}

/** Requests the bytes from `have` on. `from`: first byte of the response, 0 when the storage ignores ranges. */
const requestRest = async ({ http, url, file }: Download, have: number) => {
  const { response, linked } = await http.open(url, have === 0 ? {} : { range: `bytes=${have}-` })
  const [, start, total] = /^bytes (\d+)-\d+\/(\d+)$/.exec(response.headers['content-range'] ?? '') ?? []
  const from = response.statusCode === 206 ? Number(start) : 0
  const isExpectedFile = matchesListing(file, linked, total)
  if (!isExpectedFile || (from !== 0 && from !== have) || Number.isNaN(from)) {
    response.destroy()
    throw new HubError(`the hub sent a ${file.path} that differs from its file list`, { isTemporary: isExpectedFile })
  }
  return { response, from }
}

/** Appends the missing bytes to the part and hashes the complete file. Throws HubError. */
const attempt = async (download: Download): Promise<string> => {
  const { file, part, onBytes } = download
  const handle = await open(part, 'a+', 0o600)
  try {
    let hashing = hashingOf(file)
    let size = (await handle.stat()).size > file.size ? 0 : await hashExistingBytes(handle, hashing)
    if (size === 0) await handle.truncate(0)
    onBytes(size)
    if (size < file.size) {
      const { response, from } = await requestRest(download, size)
      if (from !== size) {
        await handle.truncate(0)
        hashing = hashingOf(file)
        size = 0
      }
      try {
        for await (const piece of response as AsyncIterable<Buffer>) {
          if (size + piece.length > file.size)
            throw new WrongContent(`${file.path} is longer than the ${file.size} bytes that the hub lists`)
          await handle.appendFile(piece)
          hashing.update(piece)
          size += piece.length
          onBytes(size)
        }
      } catch (error) {
        // A failed write (full disk, deleted folder) does not come from the network, so a retry does not help.
        const isWriteError = error instanceof Error && 'syscall' in error && error.syscall === 'write'
        if (error instanceof HubError || isWriteError) throw error
        throw new HubError(`the download of ${file.path} broke off after ${size} of ${file.size} bytes`, {
          isTemporary: true,
        })
      }
    }
    if (size < file.size)
      throw new HubError(`the download of ${file.path} ended after ${size} of ${file.size} bytes`, {
        isTemporary: true,
      })
    const sha256 = hashing.finish()
    await handle.sync()
    return sha256
  } finally {
    await handle.close()
  }
}

/**
 * Downloads a file, continuing after the bytes of an earlier attempt. Moves it to `target` when it is complete and has
 * the listed hash, and returns its SHA-256. After a wrong hash it downloads the file once more from the beginning.
 * Throws HubError.
 */
export const downloadFile = async (download: Download): Promise<string> => {
  let mostBytes = 0
  let mostBytesBefore = 0
  const counted: Download = {
    ...download,
    onBytes: (bytes) => {
      mostBytes = Math.max(mostBytes, bytes)
      download.onBytes(bytes)
    },
  }
  const madeProgress = (): boolean => {
    const progressed = mostBytes > mostBytesBefore
    mostBytesBefore = mostBytes
    return progressed
  }
  const fetchFile = (): Promise<string> => withRetries(download.wait, () => attempt(counted), madeProgress)
  const fetchFromBeginning = async (error: unknown): Promise<string> => {
    if (!(error instanceof WrongContent)) throw error
    await rm(download.part, { force: true })
    return fetchFile()
  }
  const sha256 = await fetchFile().catch(fetchFromBeginning).catch(async (error: unknown) => {
    // A later attempt must not continue after wrong content.
    if (error instanceof WrongContent) await rm(download.part, { force: true })
    throw error
  })
  await rename(download.part, download.target)
  return sha256
}
