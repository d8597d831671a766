import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import test from 'ava'

/** Which compose client is here: `docker compose`, else docker-compose 1. */
const client = [['docker', 'compose'], ['docker-compose']].find(
  ([file = '', ...args]) => spawnSync(file, [...args, 'version'], { stdio: 'ignore' }).status === 0,
)

const CLUSTER = [
  'api-1', 'api-2', 'certificates', 'door', 'eventstore-1', 'eventstore-2', 'eventstore-3', 'models-folder', 'mongo-1', 'mongo-2',
  'mongo-3', 'mongo-set', 'projector', 'worker-1', 'worker-2',
]

/** The services that a profile starts, by what the compose client makes of docker-compose.yml. */
const servicesOf = (profile: string | null): ReadonlyArray<string> => {
  const [file = '', ...args] = client ?? []
  const env = { ...process.env, ...(profile !== null && { COMPOSE_PROFILES: profile }) }
  const config = spawnSync(file, [...args, 'config', '--services'], { env, encoding: 'utf8' })
  if (config.status !== 0) throw new Error(config.stderr)
  return config.stdout.trim().split('\n').toSorted()
}

const withClient = client === undefined ? test.skip : test

withClient('B38: docker compose starts the service alone, the profile `full` one on EventStoreDB and MongoDB', (t) => {
  if (client?.[0] === 'docker') {
    t.deepEqual(servicesOf(null), ['stenolog'])
    t.deepEqual(servicesOf('full'), ['eventstore', 'master-key', 'mongo', 'stenolog-full'])
    t.deepEqual(servicesOf('cluster'), CLUSTER)
  } else {
    // docker-compose 1 lists the services of all profiles; that it takes the file is what it can tell.
    t.deepEqual(servicesOf(null), ['eventstore', 'master-key', 'mongo', 'stenolog', 'stenolog-full', ...CLUSTER].toSorted())
  }
})

withClient('our programs run without capabilities and gain none, and write to their volume and /tmp alone', (t) => {
  const [file = '', ...args] = client ?? []
  const { stdout } = spawnSync(file, [...args, 'config'], { env: { ...process.env, COMPOSE_PROFILES: 'default,full,cluster' }, encoding: 'utf8' })
  const services = stdout.split(/^(?=  [a-z0-9-]+:$)/m).filter((text) => /^    image: stenolog$/m.test(text))
  t.deepEqual(services.map((text) => text.trim().replace(/:[^]*/, '')).toSorted(), ['api-1', 'api-2', 'master-key', 'projector', 'stenolog', 'stenolog-full', 'worker-1', 'worker-2'])
  for (const text of services) {
    t.regex(text, /^    cap_drop:\n {4,6}- ALL$/m)
    t.regex(text, /^    security_opt:\n {4,6}- no-new-privileges:true$/m)
    t.regex(text, /^    read_only: true$/m)
    t.regex(text, /^    tmpfs:\n {4,6}- \/tmp$/m)
  }
})

test('B38: all that the image copies is there, and nothing else of the checkout reaches its build', (t) => {
  const copied = [...readFileSync('Dockerfile', 'utf8').matchAll(/^COPY (.*) \S+$/gm)].flatMap(([, paths = '']) => paths.split(' '))
  const sent = readFileSync('.dockerignore', 'utf8').split('\n').flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []))
  t.deepEqual(copied.filter((path) => !existsSync(path)), [])
  t.deepEqual(copied.toSorted(), sent.toSorted())
})
