import { symlink } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import test from 'ava'
import { readSettings } from '../../../../infrastructure/settings/settings.ts'
import { examineEnvironment } from '../../../../interfaces/cli/doctor/environment-checks.ts'
import { prefixed } from '../../../support/service/service.ts'
import { sharedTestService } from '../../../support/service/shared-service.ts'
import { temporaryDirectory } from '../../../support/tools/temporary-directory.ts'

const service = sharedTestService()

const portCheck = async (port: number | string, dataDirectory = service.dataDirectory): Promise<string> => {
  const checks = await examineEnvironment(readSettings({
    STENOLOG_HOST: '127.0.0.1', STENOLOG_PORT: String(port), STENOLOG_DATA_DIR: dataDirectory,
    STENOLOG_SOURCE_ISOLATION: 'off', ...prefixed(service.stores),
  }))
  const found = checks.find(({ name }) => name === 'port')
  return `${String(found?.ok)}: ${found?.detail.replace(/:\d+/, ':PORT') ?? ''}`
}

test('doctor beside a running service says that the port is its own, and not that of another program', async (t) => {
  t.is(await portCheck(new URL(service.url()).port), 'true: 127.0.0.1:PORT is in use by this service, which runs')
  const other = createServer((_, response) => response.writeHead(404).end())
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  t.teardown(() => other.close())
  const { port } = other.address() as AddressInfo
  t.is(await portCheck(port), 'false: 127.0.0.1:PORT is in use by another program')
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const unreadable = join(path, 'loop')
  await symlink(unreadable, unreadable)
  t.is(await portCheck(port, unreadable),
    `null: 127.0.0.1:PORT is in use; cannot tell by what, because ${unreadable} is not usable`)
})
