import type { Mutant } from './mutant.ts'

const HUB = 'test/api/hub/hub.test.ts'
const DOWNLOADS = 'test/api/hub/hub-downloads.test.ts'

/** Models from the hub: complete, verified and resumable downloads. */
export const hubMutants: ReadonlyArray<Mutant> = [
  {
    file: 'infrastructure/hub/download.ts',
    before: 'if (hash !== null && found !== hash.hex)',
    after: "if (hash?.hex === '')",
    rows: ['content with a wrong hash or length is downloaded again and never installed'], test: DOWNLOADS,
  },
  {
    file: 'infrastructure/hub/download.ts',
    before: 'if (size + piece.length > file.size)',
    after: 'if (size < 0)',
    rows: ['content with a wrong hash or length is downloaded again and never installed'], test: DOWNLOADS,
  },
  {
    file: 'infrastructure/hub/download.ts',
    before: '    await rm(download.part, { force: true })\n    return fetchFile()',
    after: '    return fetchFile()',
    rows: ['content with a wrong hash or length is downloaded again and never installed'], test: DOWNLOADS,
  },
  {
    file: 'infrastructure/hub/download.ts',
    before: 'if (from !== size) {',
    after: 'if (from > size) {',
    rows: ['a storage server without ranges restarts the download; an expired address is requested again'],
    test: DOWNLOADS,
  },
  {
    file: 'infrastructure/hub/retries.ts',
    before: 'failures = madeProgress() ? 1 : failures + 1',
    after: 'failures = failures + 1',
    rows: ['a repeatedly interrupted download continues as long as each attempt makes progress'], test: DOWNLOADS,
  },
  {
    file: 'infrastructure/hub/retries.ts',
    before: '!error.isTemporary || failures',
    after: 'failures',
    rows: ['a pull waits as long as the hub requests'], test: DOWNLOADS,
  },
  {
    file: 'infrastructure/hub/retries.ts',
    before: 'retryDelay(BACK_OFF, failures - 1, Math.random())',
    after: 'retryDelay(BACK_OFF, 0, Math.random())',
    rows: ['a pull waits as long as the hub requests'], test: DOWNLOADS,
  },
  {
    file: 'infrastructure/hub/hub-error.ts',
    before: 'Math.max(0, Date.parse(after) - hubTime)',
    after: 'Date.parse(after) - hubTime',
    rows: ['a date in Retry-After counts from the date of the answer, whatever the clock of this machine shows'],
    test: DOWNLOADS,
  },
  {
    file: 'infrastructure/hub/hub-error.ts',
    before: 'Math.min(MAX_WAIT_MS, Number(after) * 1000)',
    after: 'Number(after) * 1000',
    rows: ['Retry-After is read as seconds or a date and has an upper limit'], test: DOWNLOADS,
  },
  {
    file: 'infrastructure/hub/staging.ts',
    before: 'if (!paths.has(path)) await rm(join(files, path))',
    after: 'if (paths.size < 0) await rm(join(files, path))',
    rows: ['an interrupted pull resumes from its finished files, and only one pull of a model runs at a time'],
    test: HUB,
  },
  {
    file: 'infrastructure/hub/staging.ts',
    before: 'if (downloaded.length === 0) await remove()',
    after: 'await remove()',
    rows: ['an interrupted pull resumes from its finished files, and only one pull of a model runs at a time'],
    test: HUB,
  },
  {
    file: 'infrastructure/hub/pull.ts',
    before: 'if (needed > free) throw',
    after: 'if (needed < 0) throw',
    rows: ['a model that is too large for the disk or of an unsupported type is not downloaded'], test: HUB,
  },
  {
    file: 'infrastructure/hub/pull.ts',
    before: 'await options.check(staging.files)',
    after: 'undefined',
    rows: ['an installed model is replaced only with --force, and only by a complete model'], test: HUB,
  },
  {
    file: 'infrastructure/hub/hub-http.ts',
    before: 'if (!schemes.has(url.protocol)) throw',
    after: "if (url.protocol === '') throw",
    rows: ['without a mirror only https to public addresses is allowed'], test: HUB,
  },
  {
    file: 'infrastructure/hub/hub-http.ts',
    before: 'const isTemporary = status === 416',
    after: 'const isTemporary = false',
    rows: ['a storage server without ranges restarts the download; an expired address is requested again'],
    test: DOWNLOADS,
  },
  {
    file: 'infrastructure/hub/hub-http.ts',
    before: '(isStorage && (status === 401 || status === 403))',
    after: '(isStorage && status === 401)',
    rows: ['a storage server without ranges restarts the download; an expired address is requested again'],
    test: DOWNLOADS,
  },
  {
    file: 'infrastructure/hub/repository.ts',
    before: '    page = next\n',
    after: '    page = null\n',
    rows: ['a pulled model has exactly the files the engine needs, with their hashes and source'], test: HUB,
  },
]
