import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { startMongoDouble } from '../../support/doubles/mongodb/process.ts'
import { stenolog } from '../../support/service/command-line.ts'
import { launch } from '../../support/service/launch.ts'
import { prefixed } from '../../support/service/service.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

test('the service and `doctor` refuse a server whose updates are not atomic', async (t) => {
  const double = await startMongoDouble({ isSplit: true })
  t.teardown(double.dispose)
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const key = join(path, 'key')
  await writeFile(key, randomBytes(32))
  const settings = { MONGO_URL: double.url('stenolog'), MASTER_KEY_FILE: key }
  const service = launch(t, prefixed({ DATA_DIR: path, PORT: '0', ...settings }))
  t.is(await service.exited, 1)
  t.regex(service.stderr(), /Stenolog cannot start: the server of STENOLOG_MONGO_URL is not safe to use/)
  const { code, stdout } = await stenolog(path, ['doctor'], settings)
  t.is(code, 1)
  t.regex(stdout, /^mongodb +WRONG +not usable: the server of STENOLOG_MONGO_URL is not safe to use/m)
})
