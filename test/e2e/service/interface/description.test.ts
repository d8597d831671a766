import { Validator } from '@seriousme/openapi-schema-validator'
import test from 'ava'
import { createClient, type Client, type Json } from '../../../support/service/client.ts'
import { passwordOf, runTestService } from '../../../support/service/service.ts'

const service = await runTestService()
test.after.always(() => service.dispose())

interface Operation {
  readonly operationId: string
  readonly tags: ReadonlyArray<string>
  readonly security: ReadonlyArray<object>
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example: unknown }>> }
  readonly responses: Readonly<
    Record<string, { readonly content: Readonly<Record<string, { readonly examples?: Json }>> }>
  >
}

interface PathOperation extends Operation {
  readonly method: string
  readonly path: string
}

interface Description {
  readonly openapi: string
  readonly info: { readonly version: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

const fetchDescription = async (): Promise<Description> =>
  (await service.anonymous().get<Description>('/openapi.json')).body

const operationsOf = ({ paths }: Description): ReadonlyArray<PathOperation> =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
  )

test('/openapi.json is valid OpenAPI 3.1.0 and declares tags, credentials and refusals', async (t) => {
  const document = await fetchDescription()
  t.deepEqual([document.openapi, document.info.version], ['3.1.0', '0.6.2'])
  const { valid, errors } = await new Validator().validate(structuredClone(document) as never)
  t.true(valid, JSON.stringify(errors))
  for (const { operationId, tags, security, responses, path } of operationsOf(document)) {
    const isPrivate = tags[0] === 'Private'
    t.deepEqual(tags, [isPrivate ? 'Private' : 'Public'], operationId)
    t.deepEqual(security[0] ?? null, isPrivate ? { bearer: [] } : null, operationId)
    if (isPrivate) t.true('401' in responses, operationId)
    if (isPrivate && path.includes('{id}')) t.true('404' in responses, operationId)
  }
  const create = document.paths['/lives']?.['post']?.responses ?? {}
  for (const status of ['401', '403', '404', '422', '503']) t.true(status in create, status)
})

/** Skipped, because rescanModels takes long and logout ends the shared login. */
const SKIPPED: ReadonlySet<string> = new Set(['rescanModels', 'logout'])

test('the description declares every answer to a wrong request', async (t) => {
  const admin = await service.admin()
  const clients = [service.anonymous(), createClient(service.url(), 'nobody'), admin]
  // The client throws when the description does not declare the status or shape of an answer.
  const statuses = new Set<number>()
  for (const { method, path, operationId } of operationsOf(await fetchDescription())) {
    if (SKIPPED.has(operationId)) continue
    for (const client of clients)
      for (const id of path.includes('{id}') ? ['4711', 'x'] : ['4711'])
        for (const body of method === 'GET' || id === 'x' ? ['{}'] : ['{}', '{"a":'])
          statuses.add(
            (
              await client.request(
                method,
                `${path.replace('{id}', id).replace('{entry}', '1')}?skip=-1&limit=0&status=no&format=no`,
                {
                  headers: { 'content-type': 'application/json' },
                  ...(method === 'GET' ? {} : { body }),
                },
              )
            ).status,
          )
  }
  for (const status of [200, 401, 404, 422]) t.true(statuses.has(status), String(status))
})

const USERS = 20

/** A user’s resources, by the first segment of their paths. */
interface Owned {
  readonly client: Client
  readonly ids: Readonly<Record<string, number>>
}

const ownedBy = async (client: Client): Promise<Owned> => {
  const live = await client.createLive()
  const { data: token } = await client.api.call('createToken', { body: { name: 'ci' } })
  const { data: profile } = await client.api.call('createProfile', { body: { name: 'Lecture' } })
  const { data: me } = await client.api.call('getMe')
  return { client, ids: { lives: live.id, tokens: token.id, 'user-live-configs': profile.id, users: me.id } }
}

const bodyOf = ({ requestBody }: Operation): string | undefined => {
  const example = requestBody?.content['application/json']?.example
  return example === undefined ? undefined : JSON.stringify(example)
}

/** True when the description allows the operation only to administrators. */
const isForAdmins = ({ responses }: Operation): boolean =>
  Object.values(responses['403']?.content ?? {}).some(
    ({ examples }) => examples !== undefined && 'PermissionMissing' in examples,
  )

const send = ({ client }: Owned, operation: PathOperation, path: string) => {
  const body = bodyOf(operation)
  return client.request(operation.method, path, {
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body }),
  })
}

test(
  'each of 20 users gets 404 for another user’s data and 403 on admin routes, on every described route',
  async (t) => {
    const operations = operationsOf(await fetchDescription())
    const forAdmins = operations.filter(isForAdmins)
    const ofOwners = operations.filter(
      (operation) =>
        operation.tags.includes('Private') && operation.path.includes('{id}') && !isForAdmins(operation),
    )
    t.true(forAdmins.length >= 8 && ofOwners.length >= 10, `${forAdmins.length} and ${ofOwners.length} operations`)

    const admin = await service.admin()
    const names = Array.from({ length: USERS }, (_, index) => `user${index}`)
    await Promise.all(
      names.map((username) => admin.api.call('createUser', { body: { username, password: passwordOf(username) } })),
    )
    const users = await Promise.all(names.map(async (username) => ownedBy(await service.logIn(username))))

    for (const [index, user] of users.entries()) {
      const other = users[(index + 1) % users.length] ?? user
      const answers = await Promise.all(
        [...ofOwners, ...forAdmins].map(async (operation) => {
          const id = other.ids[operation.path.split('/')[1] ?? ''] ?? other.ids['lives']
          const { status } = await send(
            user,
            operation,
            operation.path.replace('{id}', String(id)).replace('{entry}', '1'),
          )
          return { name: `${operation.method} ${operation.path}`, status, expected: isForAdmins(operation) ? 403 : 404 }
        }),
      )
      t.deepEqual(
        answers.filter(({ status, expected }) => status !== expected),
        [],
        `user ${index}`,
      )
    }
    for (const { client, ids } of users) {
      const lists = [await client.api.call('listLives'), await client.api.call('listTokens')]
      t.deepEqual(
        lists.map(({ data }) => data.map(({ id }) => id)),
        [[ids['lives']], [ids['tokens']]],
        'every user still has their data',
      )
      const profiles = (await client.api.call('listProfiles')).data
      t.deepEqual(profiles.map(({ name }) => name).toSorted(), ['Default', 'Lecture'])
    }
  },
)
