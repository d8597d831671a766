import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { logIn } from '../../support/service/client.ts'
import { stenolog } from '../../support/service/command-line.ts'
import { launch } from '../../support/service/launch.ts'
import { unpackFiles } from '../../support/older-data/packed-files.ts'
import {
  ADA, inRecordedShape, LISTS, readLists, TIMELESS_SETTINGS, type Lists,
} from '../../support/older-data/lists.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

/** Names of folders: the commit of the version that wrote the data with `test/support/older-data/make.ts`. */
const VERSIONS = ['1f99de3']
const FIXTURES = join(import.meta.dirname, 'older-data')

type Settings = Readonly<Record<string, string>>

for (const version of VERSIONS)
  test(`data of version ${version} opens with equal lists and passes the check`, async (t) => {
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
    const assertCheckPasses = async (when: string): Promise<void> => {
      const { code, stdout, stderr } = await stenolog(directory.path, ['check'], unprefixed)
      t.is(code, 0, `${when}:\n${stdout}${stderr}`)
    }
    const settings: Settings = { ...TIMELESS_SETTINGS, STENOLOG_DATA_DIR: directory.path }
    const assertEqualLists = async (url: string, when: string): Promise<void> => {
      const lists = await readLists(url)
      for (const [name, items] of Object.entries(recorded))
        t.deepEqual(inRecordedShape(items, lists[name]), items, `${name} ${when}`)
    }

    await assertCheckPasses('before the start')
    const service = launch(t, settings)
    const url = await service.url()
    t.is((await fetch(`${url}/health/ready`)).status, 200)
    await assertEqualLists(url, 'after the start')
    await assertCheckPasses('while the service runs')

    const rebuilt = await stenolog(directory.path, ['rebuild'], unprefixed)
    t.is(rebuilt.code, 0, rebuilt.stderr)
    await assertEqualLists(url, 'after a rebuild')

    const ada = await logIn(url, ADA.username, ADA.password)
    const live = await ada.createLive()
    await ada.api.call('finishLive', { path: { id: live.id } })
    const kept = recorded['ada transcripts']?.find(({ status }) => status === 200)
    await ada.api.call('deleteLive', { path: { id: Number(kept?.['id']) } })
    t.is((await ada.get(`/lives/${String(kept?.['id'])}/transcript`)).status, 404)
    service.kill('SIGTERM')
    t.is(await service.exited, 0, service.stderr())
    await assertCheckPasses('after writes of this version')
  })
