import { mkdir, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { launch } from '../../support/service/launch.ts'
import { startTestService } from '../../support/service/service.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

const directoryFor = async (t: ExecutionContext): Promise<string> => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  return path
}

test.serial('a start with wrong settings reports all of them at once, without secrets', async (t) => {
  const service = launch(t, {
    STENOLOG_DATA_DIR: await directoryFor(t),
    STENOLOG_PORT: '99999',
    STENOLOG_COMPAT_STRICT: 'yes',
    STENOLOG_DRAIN_TIMEOUT: '5 minutes',
    STENOLOG_JWT_TTL: '0',
    STENOLOG_HSOT: '0.0.0.0',
    STENOLOG_EVENTSTORE_URL: 'esdb://user:s3cret-in-url@db.example:2113?tlsVerifyCert=false',
    STENOLOG_MONGO_URL: 'mongo://user:s3cret-in-url@db.example',
    STENOLOG_TEST_ANYTHING: 'of the suites',
  })
  t.is(await service.exited, 1)
  t.is(service.stdout(), '')
  for (const name of ['PORT', 'COMPAT_STRICT', 'DRAIN_TIMEOUT', 'JWT_TTL', 'HSOT', 'EVENTSTORE_URL', 'MONGO_URL'])
    t.regex(service.stderr(), new RegExp(`^error: (?:Unknown setting )?STENOLOG_${name}[. ]`, 'm'))
  t.notRegex(service.stderr(), /TEST_ANYTHING|s3cret-in-url|^\s+at /m)
})

test.serial(
  'an unknown setting, an event store URL without an account, or a password without a user stops the start',
  async (t) => {
    const cases = [
      ['STENOLOG_UNHEARD', '1', 'STENOLOG_UNHEARD'],
      ['STENOLOG_EVENTSTORE_URL', 'esdb://db.example:2113', 'STENOLOG_EVENTSTORE_URL'],
      ['STENOLOG_ADMIN_PASSWORD', 'alone and lost', 'STENOLOG_ADMIN_USERNAME'],
    ] as const
    for (const [name, value, reported] of cases) {
      const service = launch(t, { STENOLOG_DATA_DIR: await directoryFor(t), STENOLOG_PORT: '0', [name]: value })
      t.is(await service.exited, 1)
      t.true(service.stderr().includes(reported))
      t.false(service.stderr().includes('alone and lost'))
    }
  },
)

test.serial('a port in use stops the start with one message', async (t) => {
  const holder = createServer()
  await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve))
  t.teardown(() => holder.close())
  const { port } = holder.address() as AddressInfo
  const service = launch(t, { STENOLOG_DATA_DIR: await directoryFor(t), STENOLOG_PORT: String(port) })
  t.is(await service.exited, 1)
  t.regex(service.stderr(), new RegExp(`cannot start.*${port}`))
  t.is(service.stdout(), '')
  t.notRegex(service.stderr(), /^\s+at /m)
})

test.serial('an unusable data directory stops the start with one message that names it', async (t) => {
  t.timeout(60_000)
  const directory = await directoryFor(t)
  const file = join(directory, 'file')
  await writeFile(file, '')
  const occupied = join(directory, 'occupied')
  await mkdir(join(occupied, 'lock.db'), { recursive: true })
  const kernelPaths = process.platform === 'linux' ? ['/dev/null/x', '/proc/x', '/proc/no/such', '/sys/x'] : []
  for (const unusable of [file, join(file, 'x'), occupied, ...kernelPaths]) {
    const service = launch(t, { STENOLOG_DATA_DIR: unusable, STENOLOG_PORT: '0' })
    t.is(await service.exited, 1, unusable)
    t.regex(service.stderr(), /^error: Stenolog cannot start: the data directory .* cannot be used: .+\n$/)
    t.true(service.stderr().includes(unusable))
    t.is(service.stdout(), '')
  }
})

test.serial('a data directory belongs to one process until it ends, even by kill -9', async (t) => {
  const service = await startTestService(t)
  const second = launch(t, { STENOLOG_DATA_DIR: service.dataDirectory, STENOLOG_PORT: '0' })
  t.is(await second.exited, 1)
  t.regex(second.stderr(), /cannot start.*data directory/)
  t.is((await service.anonymous().get('/health/ready')).status, 200)
  await service.kill('SIGKILL')
  await service.start()
  t.is((await service.anonymous().get('/health/ready')).status, 200)
})
