import { setTimeout as delay } from 'node:timers/promises'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { v7 } from 'uuid'
import { createAdmissionActor } from '../../../../application/admission/admission-actor.ts'
import type { EventStore } from '../../../../application/ports/event-store.ts'
import { reservedVram } from '../../../../domain/admission/state.ts'
import { systemTimers } from '../../../../infrastructure/process/system-timers.ts'
import { createMemoryEventStore } from '../../../support/doubles/memory/event-store.ts'
import { createMemoryKeyring } from '../../../support/doubles/memory/keyring.ts'
import { createRecordingLogger } from '../../../support/doubles/loggers.ts'
import { chanceOf } from '../../../support/tools/seeded.ts'
import { createTestEnvironment } from '../../../support/doubles/environment.ts'
import { admitCommand, setCapacity } from '../../../support/worlds/write-side.ts'

const PROCESSES = 4
const CLIENTS = 8
const CREATES_PER_CLIENT = 10

/** A store with random delays of up to 4 ms before and after each call. */
const withDelays = (store: EventStore, random: () => number): EventStore => ({
  ...store,
  append: async (...args) => {
    await delay(random() * 4)
    const answer = await store.append(...args)
    await delay(random() * 4)
    return answer
  },
  read: async (...args) => {
    await delay(random() * 4)
    return await store.read(...args)
  },
})

test('processes that admit continuously on one log do not refuse commands because of conflicts', async (t) => {
  const chance = chanceOf(t)
  const store = withDelays(createMemoryEventStore(), chance.random('store'))
  const open = async (_: unknown, index: number) => {
    const environment = { ...createTestEnvironment(), random: chance.random(`process ${index}`), newId: v7 }
    const deps = {
      store,
      keyring: createMemoryKeyring(),
      environment,
      timers: systemTimers,
      logger: createRecordingLogger(),
    }
    return { environment, actor: await createAdmissionActor(deps) }
  }
  const processes = await Promise.all(Array.from({ length: PROCESSES }, open))
  const [first] = processes
  if (first === undefined) throw new Error('no process')
  await setCapacity(first.actor, first.environment, 100_000)
  const admit = async ({ actor, environment }: typeof first, commandId: string) =>
    await actor.send({
      command: admitCommand({ commandId, userId: 1, vram: 1, instance: environment.instance }),
      commandId, correlationId: commandId, actor: 'user:1',
    })
  const refused: Array<string> = []
  await Promise.all(processes.flatMap((process, index) => Array.from({ length: CLIENTS }, async (_, client) => {
    for (let number = 0; number < CREATES_PER_CLIENT; number += 1) {
      const answer = await admit(process, `${index}-${client}-${number}`)
      if (E.isLeft(answer)) refused.push(answer.left._tag)
    }
  })))
  t.deepEqual(refused, [])
  t.true(E.isRight(await first.actor.refresh()))
  t.is(reservedVram(first.actor.state()), PROCESSES * CLIENTS * CREATES_PER_CLIENT)
})
