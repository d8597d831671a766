import type { WorkerEngine } from '../../domain/admission/worker-engines.ts'
import type { Device, PassTime, SpeechEngine } from '../ports/engine.ts'

/** A session that is about to start. */
export interface BeginningSession {
  readonly liveId: number
  readonly model: string
  /** Megabytes that the session has reserved. */
  readonly vram: number
}

/** The engine of a session, from the start of the session to its end. */
export interface Pin {
  readonly engine: SpeechEngine
  /** Frees the place of the session on the engine. Further calls do nothing. */
  readonly release: () => void
}

/** The engines of this process: one engine for each of its GPUs, or a single engine. */
export interface EnginePool {
  readonly engines: ReadonlyArray<SpeechEngine>
  /** Megabytes that sessions can reserve on all engines together. */
  readonly vram: number
  /** The engines as a whole: their device, pass times and process. */
  readonly whole: Pick<SpeechEngine, 'deviceOf' | 'passTime' | 'pid' | 'close'>
  readonly pin: (session: BeginningSession) => Pin
  /** Returns the memory and the sessions of each engine, or undefined for a single engine. */
  readonly loads: () => ReadonlyArray<WorkerEngine> | undefined
}

interface EnginePoolOptions {
  readonly engines: readonly [SpeechEngine, ...ReadonlyArray<SpeechEngine>]
  /** Megabytes that sessions can reserve on each engine. */
  readonly vrams: ReadonlyArray<number>
  /** Returns the share of a lane that a session uses on an engine. */
  readonly shareOn: (engine: SpeechEngine, model: string) => number
}

interface Pinned extends BeginningSession {
  readonly index: number
}

/** An engine, as a possible place for a new session. */
interface Place {
  /** Share of the engine that is in use once the session runs there. Above 1 the engine is overloaded. */
  readonly load: number
  /** True when the engine has too little memory for the session. */
  readonly isTight: boolean
  /** True while the process of the engine is restarting. */
  readonly isDown: boolean
}

const isBetter = (a: Place, b: Place): boolean => {
  if (a.isDown !== b.isDown) return b.isDown
  if (a.isTight !== b.isTight) return b.isTight
  return a.load < b.load
}

const sum = (numbers: ReadonlyArray<number>): number => numbers.reduce((total, number) => total + number, 0)

/** Returns the pass time of the slowest engine, so admission never expects too much of an engine. */
const slowest = (times: ReadonlyArray<PassTime | null>): PassTime | null =>
  times.reduce(
    (slower, time) => (slower === null || (time !== null && time.usual > slower.usual) ? time : slower),
    null,
  )

/**
 * Gives each session one engine: the least loaded engine with enough memory. The load is the share of used lanes or the
 * share of used memory, whichever is larger. If no engine has enough memory, all engines are candidates: an engine
 * continues on the CPU when its GPU memory is full. A restarting engine is the last choice.
 */
export const createEnginePool = ({ engines, vrams, shareOn }: EnginePoolOptions): EnginePool => {
  const vramOn = (index: number): number => vrams[index] ?? 0
  const pinned = new Set<Pinned>()
  const on = (index: number): ReadonlyArray<Pinned> => [...pinned].filter((session) => session.index === index)
  const memoryOn = (index: number): number => sum(on(index).map(({ vram }) => vram))

  /** A model uses the same kind of device on all engines, but only engines that have loaded the model report it. */
  const deviceOf = (model: string): Device => {
    const devices = engines.map((engine) => engine.deviceOf(model))
    const gpu = devices.find(({ name }) => name === 'gpu')
    return gpu === undefined
      ? { name: 'cpu', lanes: sum(devices.map(({ lanes }) => lanes)) }
      : { name: 'gpu', lanes: gpu.lanes * engines.length }
  }

  const loadOf = (engine: SpeechEngine, index: number, session: BeginningSession): number => {
    const device = deviceOf(session.model)
    const models = [...on(index), session].map(({ model }) => model)
    const onDevice = models.filter((model) => deviceOf(model).name === device.name)
    const compute = sum(onDevice.map((model) => shareOn(engine, model))) / (device.lanes / engines.length)
    return Math.max(compute, (memoryOn(index) + session.vram) / vramOn(index))
  }

  const choose = (session: BeginningSession): { readonly engine: SpeechEngine; readonly index: number } => {
    const placeOn = (engine: SpeechEngine, index: number) => ({
      engine,
      index,
      load: loadOf(engine, index, session),
      isTight: memoryOn(index) + session.vram > vramOn(index),
      isDown: engine.pid() === undefined,
    })
    const [first, ...others] = engines
    return others.map((engine, at) => placeOn(engine, at + 1))
      .reduce((best, other) => (isBetter(other, best) ? other : best), placeOn(first, 0))
  }

  return {
    engines,
    vram: sum(vrams),
    pin: (session) => {
      const { engine, index } = choose(session)
      const added: Pinned = { ...session, index }
      pinned.add(added)
      return { engine, release: () => void pinned.delete(added) }
    },
    loads: () =>
      engines.length === 1
        ? undefined
        : vrams.map((vram, index) => ({ vram, sessions: new Set(on(index).map(({ liveId }) => liveId)) })),
    whole: {
      deviceOf,
      passTime: (model) => slowest(engines.map((engine) => engine.passTime(model))),
      // Undefined while any engine is restarting, like the pid of a single engine.
      pid: () => (engines.some((engine) => engine.pid() === undefined) ? undefined : engines[0]?.pid()),
      close: async () => void (await Promise.all(engines.map((engine) => engine.close()))),
    },
  }
}
