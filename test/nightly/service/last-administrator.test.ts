import test from 'ava'
import {
  createClient, logIn, type Answer, type Client, type Json, type Listing, type Single,
} from '../../support/service/client.ts'
import { stenolog } from '../../support/service/command-line.ts'
import { ADMIN, passwordOf, runTestService } from '../../support/service/service.ts'

const service = await runTestService()
test.after.always(() => service.dispose())

const CHANGE_REFUSED = { detail: 'The last administrator cannot be demoted or deactivated' }
const DELETION_REFUSED = { detail: 'The last administrator cannot be deleted' }

/** The ways to remove an administrator. */
const MEANS = {
  demote: (client: Client, id: number) => client.put(`/users/${id}`, { permissions: ['user_retention'] }),
  deactivate: (client: Client, id: number) => client.put(`/users/${id}`, { is_active: false }),
  delete: (client: Client, id: number) => client.request('DELETE', `/users/${id}`),
} satisfies Readonly<Record<string, (client: Client, id: number) => Promise<Answer>>>
type Means = keyof typeof MEANS
const ALL: ReadonlyArray<Means> = ['demote', 'deactivate', 'delete']

interface Person {
  readonly id: number
  readonly name: string
  readonly client: Client
}

let administratorCount = 0
const newAdministrator = async (by: Client): Promise<Person> => {
  administratorCount += 1
  const name = `administrator ${administratorCount}`
  const { body } = await by.post<Single<{ readonly id: number }>>('/users/', {
    username: name,
    password: passwordOf(name),
    permissions: ['admin'],
  })
  return { id: body.data.id, name, client: await logIn(service.url(), name, passwordOf(name)) }
}

const administrators = async (by: Client): Promise<ReadonlyArray<unknown>> =>
  (await by.get<Listing<Json>>('/users/?limit=1000')).body.data
    .filter((user) => user['is_active'] === true && (user['permissions'] as ReadonlyArray<string>).includes('admin'))
    .map((user) => user['id'])

test.serial('nobody can demote, deactivate or delete the last active administrator', async (t) => {
  const admin = await service.admin()
  const before = (await admin.get('/users/me')).body
  for (const body of [
    { permissions: [] },
    { is_active: false },
    { is_active: false, permissions: ['admin'], max_sessions: 1 },
  ])
    t.like(await admin.put('/users/1', body), { status: 400, body: CHANGE_REFUSED }, JSON.stringify(body))
  t.like(await MEANS.delete(admin, 1), { status: 400, body: DELETION_REFUSED })
  for (const args of [
    ['users', 'change', ADMIN.username, '--no-permissions'],
    ['users', 'deactivate', ADMIN.username],
    ['users', 'delete', ADMIN.username],
  ]) {
    const { code, stderr } = await stenolog(service.dataDirectory, args, service.stores)
    t.is(code, 1, args.join(' '))
    t.regex(stderr, /The last administrator cannot be (deleted|demoted or deactivated)/)
  }
  t.deepEqual((await admin.get('/users/me')).body, before)

  // A deactivated administrator does not count.
  const other = await newAdministrator(admin)
  t.is((await MEANS.deactivate(admin, other.id)).status, 200)
  for (const means of ALL) t.is((await MEANS[means](admin, 1)).status, 400, means)
  t.is((await MEANS.delete(admin, other.id)).status, 200)
})

test.serial('of two administrators who remove each other or themselves at once, exactly one succeeds', async (t) => {
  const root = await service.admin()
  let [alice, bob] = [await newAdministrator(root), await newAdministrator(root)]
  t.is((await MEANS.delete(alice.client, 1)).status, 200)
  for (const first of ALL)
    for (const second of ALL)
      for (const target of ['the other', 'themselves'] as const) {
        const [targetOfAlice, targetOfBob]: readonly [Person, Person] =
          target === 'themselves' ? [alice, bob] : [bob, alice]
        const answers = await Promise.all([
          MEANS[first](alice.client, targetOfAlice.id),
          MEANS[second](bob.client, targetOfBob.id),
        ])
        const statuses = answers.map(({ status }) => status)
        // A removed administrator’s request may also fail with 401 or 403.
        t.is(
          statuses.filter((status) => status === 200).length,
          1,
          `${first}, ${second}, ${target}: ${statuses.join()}`,
        )
        for (const { status, body } of answers) {
          if (status !== 200) t.true([400, 401, 403].includes(status), String(status))
          if (status === 400)
            t.true([CHANGE_REFUSED, DELETION_REFUSED].some(({ detail }) => detail === body['detail']))
        }
        const remaining = statuses[0] === 200 ? targetOfBob : targetOfAlice
        const survivor: Person = { ...remaining, client: createClient(service.url(), remaining.client.token) }
        t.deepEqual(await administrators(survivor.client), [survivor.id])
        alice = survivor
        bob = await newAdministrator(survivor.client)
      }
})
