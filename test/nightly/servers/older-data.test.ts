import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { logIn } from '../../support/service/client.ts'
import { stenolog } from '../../support/service/command-line.ts'
import { launch } from '../../support/service/launch.ts'
import { unpackFiles } from '../../support/older-data/packed-files.ts'
import { ADA, inRecordedShape, LISTS, readLists, TIMELESS_SETTINGS } from '../../support/older-data/lists.ts'
import type { Lists } from '../../support/older-data/lists.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

/** Written by `test/support/older-data/make.ts` with the version that the folder is named after. */
const VERSIONS = ['1f99de3']
const FIXTURES = join(import.meta.dirname, 'older-data')

type Settings = Readonly<Record<string, string>>

for (const version of VERSIONS)
  test(`data of ${version}, 1,000 sessions and an interrupted rebuild, opens with equal lists and a clean check`, async (t) => {
    t.timeout(300_000)
    const directory = await temporaryDirectory()
    t.teardown(directory.remove)
    await unpackFiles(join(FIXTURES, version), directory.path)
    const recorded = JSON.parse(await readFile(join(directory.path, LISTS), 'utf8')) as Lists
    await rm(join(directory.path, LISTS))
    t.true((recorded['root /admin/lives'] ?? []).length >= 800)
    t.deepEqual(recorded['ada transcripts']?.map(({ status }) => status).filter((status) => status === 200).length, 3)

    const unprefixed = Object.fromEntries(
      Object.entries(TIMELESS_SETTINGS).map(([name, value]) => [name.replace('STENOLOG_', ''), value]),
    )
    const checkIsClean = async (when: string): Promise<void> => {
      const { code, stdout, stderr } = await stenolog(directory.path, ['check'], unprefixed)
      t.is(code, 0, `${when}:\n${stdout}${stderr}`)
    }
    const settings: Settings = { ...TIMELESS_SETTINGS, STENOLOG_DATA_DIR: directory.path }
    const compareLists = async (url: string, when: string): Promise<void> => {
      const told = await readLists(url)
      for (const [name, items] of Object.entries(recorded))
        t.deepEqual(inRecordedShape(items, told[name]), items, `${name} ${when}`)
    }

    await checkIsClean('as the older version left it')
    const service = launch(t, settings)
    const url = await service.url()
    t.is((await fetch(`${url}/health/ready`)).status, 200)
    await compareLists(url, 'after the start')
    await checkIsClean('beside the running service')

    const rebuilt = await stenolog(directory.path, ['rebuild'], unprefixed)
    t.is(rebuilt.code, 0, rebuilt.stderr)
    await compareLists(url, 'after a rebuild')

    const ada = await logIn(url, ADA.username, ADA.password)
    const live = await ada.createLive()
    await ada.api.call('finishLive', { path: { id: live.id } })
    const kept = recorded['ada transcripts']?.find(({ status }) => status === 200)
    await ada.api.call('deleteLive', { path: { id: Number(kept?.['id']) } })
    t.is((await ada.get(`/lives/${String(kept?.['id'])}/transcript`)).status, 404)
    service.kill('SIGTERM')
    t.is(await service.exited, 0, service.stderr())
    await checkIsClean('after writes of this version')
  })
