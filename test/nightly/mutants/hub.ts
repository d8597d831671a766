import type { Mutant } from './mutant.ts'

const HUB = 'test/api/hub/hub.test.ts'

/** Models from the hub: whole, vouched for, and fetched to their end. */
export const hubMutants: ReadonlyArray<Mutant> = [
  {
    file: 'infrastructure/hub/download.ts',
    before: 'if (hash !== null && found !== hash.hex)',
    after: "if (hash?.hex === '')",
    rows: ['content that is not what the hub vouches for is fetched once more, and never installed'], test: HUB,
  },
  {
    file: 'infrastructure/hub/download.ts',
    before: 'if (size + piece.length > file.size)',
    after: 'if (size < 0)',
    rows: ['content that is not what the hub vouches for is fetched once more, and never installed'], test: HUB,
  },
  {
    file: 'infrastructure/hub/download.ts',
    before: '    await rm(download.part, { force: true })\n    return fetchFile()',
    after: '    return fetchFile()',
    rows: ['content that is not what the hub vouches for is fetched once more, and never installed'], test: HUB,
  },
  {
    file: 'infrastructure/hub/download.ts',
    before: 'if (from !== size) {',
    after: 'if (from > size) {',
    rows: ['a storage that knows no ranges is begun anew'], test: HUB,
  },
  {
    file: 'infrastructure/hub/retries.ts',
    before: 'failures = madeProgress() ? 1 : failures + 1',
    after: 'failures = failures + 1',
    rows: ['a body that breaks off again and again is fetched to its end'], test: HUB,
  },
  {
    file: 'infrastructure/hub/retries.ts',
    before: '!error.isTemporary || failures',
    after: 'failures',
    rows: ['the hub is waited for as long as it says'], test: HUB,
  },
  {
    file: 'infrastructure/hub/retries.ts',
    before: 'retryDelay(BACK_OFF, failures - 1, Math.random())',
    after: 'retryDelay(BACK_OFF, 0, Math.random())',
    rows: ['the hub is waited for as long as it says'], test: HUB,
  },
  {
    file: 'infrastructure/hub/hub-error.ts',
    before: 'Math.max(0, Date.parse(after) - now)',
    after: 'Date.parse(after) - now',
    rows: ['Retry-After is seconds or a date'], test: HUB,
  },
  {
    file: 'infrastructure/hub/hub-error.ts',
    before: 'Math.min(MAX_WAIT_MS, Number(after) * 1000)',
    after: 'Number(after) * 1000',
    rows: ['Retry-After is seconds or a date'], test: HUB,
  },
  {
    file: 'infrastructure/hub/staging.ts',
    before: 'if (!paths.has(path)) await rm(join(files, path))',
    after: 'if (paths.size < 0) await rm(join(files, path))',
    rows: ['a pull that was interrupted goes on with what is there'], test: HUB,
  },
  {
    file: 'infrastructure/hub/staging.ts',
    before: 'if (downloaded.length === 0) await remove()',
    after: 'await remove()',
    rows: ['a pull that was interrupted goes on with what is there'], test: HUB,
  },
  {
    file: 'infrastructure/hub/pull.ts',
    before: 'if (needed > free) throw',
    after: 'if (needed < 0) throw',
    rows: ['a model that no disk holds'], test: HUB,
  },
  {
    file: 'infrastructure/hub/pull.ts',
    before: 'await options.check(staging.files)',
    after: 'undefined',
    rows: ['what is installed is replaced only where that is asked for'], test: HUB,
  },
  {
    file: 'infrastructure/hub/hub-http.ts',
    before: 'if (!schemes.has(url.protocol)) throw',
    after: "if (url.protocol === '') throw",
    rows: ['without a mirror only https to public addresses'], test: HUB,
  },
  {
    file: 'infrastructure/hub/hub-http.ts',
    before: 'const isTemporary = status === 416',
    after: 'const isTemporary = false',
    rows: ['an address that has expired is asked for again'], test: HUB,
  },
  {
    file: 'infrastructure/hub/hub-http.ts',
    before: '(isStorage && (status === 401 || status === 403))',
    after: '(isStorage && status === 401)',
    rows: ['an address that has expired is asked for again'], test: HUB,
  },
  {
    file: 'infrastructure/hub/repository.ts',
    before: '    page = next\n',
    after: '    page = null\n',
    rows: ['a pulled model is the export of the hub'], test: HUB,
  },
]
