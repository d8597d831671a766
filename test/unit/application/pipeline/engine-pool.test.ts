import test from 'ava'
import { createEnginePool } from '../../../../application/pipeline/engine-pool.ts'
import type { SpeechEngine } from '../../../../application/ports/engine.ts'
import { scriptedEngine } from '../../../support/doubles/scripted/engine.ts'

interface Changes {
  readonly lanes?: number
  readonly device?: 'cpu' | 'gpu'
  readonly pass?: number
  readonly pid?: number
}

const engine = ({ lanes = 8, device = 'gpu', pass = 1, pid = 1 }: Changes = {}): SpeechEngine => ({
  ...scriptedEngine({ words: [], passSeconds: pass }), deviceOf: () => ({ name: device, lanes }), pid: () => pid,
})

const share = (): number => 0.5

const poolOf = (engines: readonly [SpeechEngine, ...ReadonlyArray<SpeechEngine>], vrams: ReadonlyArray<number>) => {
  const pool = createEnginePool({ engines, vrams, shareOn: share })
  const pin = (liveId: number, vram: number, model = 'base') => {
    const { engine: chosen, release } = pool.pin({ liveId, model, vram })
    return { index: engines.indexOf(chosen), release }
  }
  return { pool, pin }
}

test('a session begins on the least loaded GPU and stays there until it ends', (t) => {
  const { pool, pin } = poolOf([engine(), engine(), engine()], [9000, 9000, 9000])
  const pins = [1, 2, 3, 4].map((liveId) => pin(liveId, 1000))
  t.deepEqual(pins.map(({ index }) => index), [0, 1, 2, 0])
  t.deepEqual(pool.loads(), [[1, 4], [2], [3]].map((sessions) => ({ vram: 9000, sessions: new Set(sessions) })))
  pins[1]?.release()
  pins[1]?.release()
  t.is(pin(5, 1000).index, 1)
  t.is(pool.vram, 27_000)
})

test('a session begins only on a GPU with enough memory while one exists', (t) => {
  const { pin } = poolOf([engine(), engine()], [2000, 8000])
  t.is(pin(1, 3000).index, 1, 'the session is too large for the first GPU')
  t.is(pin(2, 1500).index, 1, 'the larger GPU stays less loaded: 4500 of 8000 is less than 1500 of 2000')
  t.is(pin(3, 1500).index, 0)
  t.is(pin(4, 3500).index, 1, 'memory comes before load')
  t.is(pin(5, 7000).index, 1, 'without enough memory anywhere, the least loaded GPU gets the session')
  const { pin: pinSlow } = poolOf([engine({ lanes: 0.1 }), engine({ lanes: 0.1 })], [9000, 1000])
  t.deepEqual([1, 2].map((liveId) => pinSlow(liveId, 1001).index), [0, 0], 'a GPU with too few lanes is only slow')
})

test('the load of a GPU is the larger of its used shares of memory and lanes', (t) => {
  const { pin } = poolOf([engine({ lanes: 1 }), engine({ lanes: 1 })], [100_000, 1000])
  t.deepEqual([1, 2, 3].map((liveId) => pin(liveId, 10).index), [0, 1, 0])
  t.is(pin(4, 900).index, 1, 'half a lane each: 0.91 of the memory is less than 1.5 lanes')
})

test('no session begins on a restarting engine while another one runs', (t) => {
  let pid: number | undefined
  const { pool, pin } = poolOf([{ ...engine(), pid: () => pid }, engine()], [9000, 9000])
  t.deepEqual([1, 2].map((liveId) => pin(liveId, 1000).index), [1, 1])
  t.is(pool.whole.pid(), undefined)
  pid = 5
  t.is(pin(3, 1000).index, 0)
  t.is(pool.whole.pid(), 5)
})

test('a pool reports the lanes of all engines, the device of the loaded model and the slowest passes', (t) => {
  const { pool } = poolOf([engine({ device: 'cpu', lanes: 4, pass: 3 }), engine(), engine()], [1, 1, 1])
  t.deepEqual(pool.whole.deviceOf('base'), { name: 'gpu', lanes: 24 })
  t.is(pool.whole.passTime('base')?.usual, 3)
  const { pool: single } = poolOf([engine({ device: 'cpu', lanes: 4 })], [1])
  t.deepEqual(single.whole.deviceOf('base'), { name: 'cpu', lanes: 4 })
  t.is(single.loads(), undefined)
})
