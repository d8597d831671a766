import { access, constants, open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { boundedInteger, boundedString, object } from '../../../domain/shared/codecs.ts'
import { readJson } from '../model-json.ts'

/** Name of the file with our facts about a model, next to the model's files. */
export const MANIFEST_FILE = 'stenolog.json'

/** A relative path without `.` and `..`, so a manifest names only files of its folder. */
const pathInFolder = boundedString(1, 500, /^(?:\w[\w.-]*\/)*\w[\w.-]*$/)
const bytes = boundedInteger(0, Number.MAX_SAFE_INTEGER)
const manifest = object(
  {
    /** Files with paths relative to the folder. */
    files: t.readonlyArray(
      object({ path: pathInFolder, size: bytes, sha256: boundedString(64, 64, /^[0-9a-f]{64}$/) }),
    ),
  },
  {
    /** `owner/name` on the hub, or the directory that the model was copied from. */
    source: t.string,
    commit: t.string,
    precision: t.string,
    /** Measured megabytes of one loaded copy, and the bytes of weights in that measurement. */
    vram: object({ megabytes: boundedInteger(1, 100_000_000), weights: bytes }),
    /** Milliseconds of the slowest pass in the trial, and the bytes of weights in that trial. */
    pass: object({ milliseconds: boundedInteger(1, 100_000_000), weights: bytes }),
  },
)
export type Manifest = t.TypeOf<typeof manifest>

/** The measurements of a trial. */
export type Measured = Pick<Manifest, 'vram' | 'pass'>

/**
 * Reads the manifest of a folder. Right: null when it is missing or invalid, because everything works without it. Left:
 * it exists, but this user cannot read it. Then the hashes in it cannot be compared, so the model must not be used.
 */
export const readManifest = async (folder: string): Promise<Either<string, Manifest | null>> => {
  const found = await readJson(folder, MANIFEST_FILE, manifest)
  if (E.isRight(found)) return found
  const isReadable = await access(join(folder, MANIFEST_FILE), constants.R_OK).then(
    () => true,
    ({ code }: NodeJS.ErrnoException) => code === 'ENOENT',
  )
  return isReadable ? E.right(null) : found
}

/** Replaces the manifest of a folder atomically. Every user may read it, whatever the umask of this process is. */
export const writeManifest = async (folder: string, content: Manifest): Promise<void> => {
  const path = join(folder, MANIFEST_FILE)
  const handle = await open(`${path}.new`, 'w')
  try {
    await handle.chmod(0o644)
    await handle.writeFile(`${JSON.stringify(content, null, 1)}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(`${path}.new`, path)
}
