import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import test from 'ava'

/** True with Docker Compose 2. The command of version 1 differs, and it does not support inline file contents. */
const hasClient = spawnSync('docker', ['compose', 'version'], { stdio: 'ignore' }).status === 0

/** Returns docker-compose.yml as Docker Compose resolves it for profiles. Null means the profiles in the file .env. */
const configOf = (profiles: string | null, ...options: ReadonlyArray<string>): string => {
  const env = { ...process.env, ...(profiles !== null && { COMPOSE_PROFILES: profiles }) }
  const config = spawnSync('docker', ['compose', 'config', ...options], { env, encoding: 'utf8' })
  if (config.status !== 0) throw new Error(config.stderr)
  return config.stdout
}

const CLUSTER = [
  'api-1',
  'api-2',
  'certificates',
  'door',
  'eventstore-1',
  'eventstore-2',
  'eventstore-3',
  'models-folder',
  'mongo-1',
  'mongo-2',
  'mongo-3',
  'mongo-set',
  'projector',
  'worker-1',
  'worker-2',
]

const servicesOf = (profile: string | null): ReadonlyArray<string> =>
  configOf(profile, '--services').trim().split('\n').toSorted()

const withClient = hasClient ? test : test.skip

withClient('docker compose starts one service by default, and more with the profiles full and cluster', (t) => {
  t.deepEqual(servicesOf(null), ['stenolog'])
  t.deepEqual(servicesOf('full'), ['eventstore', 'master-key', 'mongo', 'stenolog-full'])
  t.deepEqual(servicesOf('cluster'), CLUSTER)
})

withClient('the containers of Stenolog have no capabilities and write only to their volume and /tmp', (t) => {
  const services = configOf('default,full,cluster')
    .split(/^(?=  [a-z0-9-]+:$)/m)
    .filter((text) => /^    image: stenolog$/m.test(text))
  t.deepEqual(services.map((text) => text.trim().replace(/:[^]*/, '')).toSorted(), [
    'api-1',
    'api-2',
    'master-key',
    'projector',
    'stenolog',
    'stenolog-full',
    'worker-1',
    'worker-2',
  ])
  for (const text of services) {
    t.regex(text, /^    cap_drop:\n {4,6}- ALL$/m)
    t.regex(text, /^    security_opt:\n {4,6}- no-new-privileges:true$/m)
    t.regex(text, /^    read_only: true$/m)
    t.regex(text, /^    tmpfs:\n {4,6}- \/tmp$/m)
  }
})

test('the image build gets exactly the files that the Dockerfile copies', (t) => {
  const copied = [...readFileSync('Dockerfile', 'utf8').matchAll(/^COPY (.*) \S+$/gm)].flatMap(([, paths = '']) =>
    paths.split(' '),
  )
  const allowed = readFileSync('.dockerignore', 'utf8')
    .split('\n')
    .flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []))
  t.deepEqual(copied.filter((path) => !existsSync(path)), [])
  t.deepEqual(copied.toSorted(), allowed.toSorted())
})
