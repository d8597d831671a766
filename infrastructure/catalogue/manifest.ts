import { open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { boundedInteger, boundedString, object } from '../../domain/shared/codecs.ts'
import { readJson } from '../onnx/model-json.ts'

/** Beside a model's files: what we know of them and they do not say. */
export const MANIFEST_FILE = 'stenolog.json'

const bytes = boundedInteger(0, Number.MAX_SAFE_INTEGER)
const manifest = object(
  {
    /** By their paths in the folder. */
    files: t.readonlyArray(object({ path: t.string, size: bytes, sha256: boundedString(64, 64, /^[0-9a-f]{64}$/) })),
  },
  {
    /** `owner/name` on the hub with the commit, or the directory it was copied from. */
    source: t.string,
    commit: t.string,
    precision: t.string,
    /** Megabytes of one loaded set, measured, and the bytes of weights that it was measured with. */
    vram: object({ megabytes: boundedInteger(1, 100_000_000), weights: bytes }),
    /** Milliseconds of the slowest pass of its trial, and the bytes of weights that it had. */
    pass: object({ milliseconds: boundedInteger(1, 100_000_000), weights: bytes }),
  },
)
export type Manifest = t.TypeOf<typeof manifest>

/** What a trial showed of it. */
export type Measured = Pick<Manifest, 'vram' | 'pass'>

/** Null where there is none that can be read: all that it tells can be done without. */
export const readManifest = async (folder: string): Promise<Manifest | null> => {
  const found = await readJson(folder, MANIFEST_FILE, manifest)
  return E.isRight(found) ? found.right : null
}

/** Puts it in the place of an earlier one as a whole. */
export const writeManifest = async (folder: string, content: Manifest): Promise<void> => {
  const path = join(folder, MANIFEST_FILE)
  const handle = await open(`${path}.new`, 'w', 0o644)
  try {
    await handle.writeFile(`${JSON.stringify(content, null, 1)}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(`${path}.new`, path)
}
