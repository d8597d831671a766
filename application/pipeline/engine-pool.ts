import type { EngineRoom } from '../../domain/admission/engine-rooms.ts'
import type { Device, PassTime, SpeechEngine } from '../ports/engine.ts'

/** A session that is about to begin. */
export interface BeginningSession {
  readonly liveId: number
  readonly model: string
  /** Megabytes that it has reserved. */
  readonly vram: number
}

/** The engine that runs a session from its beginning to its end. */
export interface Pin {
  readonly engine: SpeechEngine
  /** Frees the place of the session; further calls do nothing. */
  readonly release: () => void
}

/** The engines of this process: one for each of its GPUs, or a single one. */
export interface EnginePool {
  readonly engines: ReadonlyArray<SpeechEngine>
  /** Megabytes that sessions can reserve on all engines together. */
  readonly vram: number
  /** What the engines are and measure together. */
  readonly whole: Pick<SpeechEngine, 'deviceOf' | 'passTime' | 'pid' | 'close'>
  /** Chooses the engine of a session. */
  readonly pin: (session: BeginningSession) => Pin
  /** The memory and the sessions of each engine; undefined where there is a single one. */
  readonly rooms: () => ReadonlyArray<EngineRoom> | undefined
}

interface EnginePoolOptions {
  readonly engines: readonly [SpeechEngine, ...ReadonlyArray<SpeechEngine>]
  /** Megabytes that sessions can reserve on each engine. */
  readonly vrams: ReadonlyArray<number>
  /** Part of a lane that a session takes on an engine. */
  readonly shareOn: (engine: SpeechEngine, model: string) => number
}

interface Pinned extends BeginningSession {
  readonly index: number
}

/** An engine as a place for a session that begins. */
interface Place {
  /** Part of the engine that is taken once the session runs on it; above 1: more than it has. */
  readonly load: number
  /** It has too little memory for the session. */
  readonly isTight: boolean
  /** Its process is being restarted. */
  readonly isDown: boolean
}

const isBetter = (one: Place, other: Place): boolean => {
  if (one.isDown !== other.isDown) return other.isDown
  if (one.isTight !== other.isTight) return other.isTight
  return one.load < other.load
}

const sum = (numbers: ReadonlyArray<number>): number => numbers.reduce((total, number) => total + number, 0)

/** The time of the slowest engine, so that admission counts on no more than each engine can do. */
const slowest = (times: ReadonlyArray<PassTime | null>): PassTime | null =>
  times.reduce((slower, time) => (slower === null || (time !== null && time.usual > slower.usual) ? time : slower), null)

/**
 * Gives each session one engine. Of the engines with memory for the session, the least loaded is taken: the load of an
 * engine is the larger of the parts of its lanes and of its memory that are taken. Where none has the memory, all
 * count: an engine whose GPU runs out of memory goes on with the CPU. An engine that is being restarted is taken last.
 */
export const createEnginePool = ({ engines, vrams, shareOn }: EnginePoolOptions): EnginePool => {
  const vramOn = (index: number): number => vrams[index] ?? 0
  const pinned = new Set<Pinned>()
  const on = (index: number): ReadonlyArray<Pinned> => [...pinned].filter((session) => session.index === index)
  const memoryOn = (index: number): number => sum(on(index).map(({ vram }) => vram))

  /** A model runs on the same kind of device on all engines; an engine that has not loaded it does not know which. */
  const deviceOf = (model: string): Device => {
    const devices = engines.map((engine) => engine.deviceOf(model))
    const gpu = devices.find(({ name }) => name === 'gpu')
    return gpu === undefined
      ? { name: 'cpu', lanes: sum(devices.map(({ lanes }) => lanes)) }
      : { name: 'gpu', lanes: gpu.lanes * engines.length }
  }

  const loadOf = (engine: SpeechEngine, index: number, begins: BeginningSession): number => {
    const device = deviceOf(begins.model)
    const models = [...on(index), begins].map(({ model }) => model)
    const onDevice = models.filter((model) => deviceOf(model).name === device.name)
    const compute = sum(onDevice.map((model) => shareOn(engine, model))) / (device.lanes / engines.length)
    return Math.max(compute, (memoryOn(index) + begins.vram) / vramOn(index))
  }

  const choose = (begins: BeginningSession): { readonly engine: SpeechEngine; readonly index: number } => {
    const placeOn = (engine: SpeechEngine, index: number) => ({
      engine,
      index,
      load: loadOf(engine, index, begins),
      isTight: memoryOn(index) + begins.vram > vramOn(index),
      isDown: engine.pid() === undefined,
    })
    const [first, ...others] = engines
    return others.map((engine, at) => placeOn(engine, at + 1))
      .reduce((best, other) => (isBetter(other, best) ? other : best), placeOn(first, 0))
  }

  return {
    engines,
    vram: sum(vrams),
    pin: (begins) => {
      const { engine, index } = choose(begins)
      const session: Pinned = { ...begins, index }
      pinned.add(session)
      return { engine, release: () => void pinned.delete(session) }
    },
    rooms: () =>
      engines.length === 1
        ? undefined
        : vrams.map((vram, index) => ({ vram, sessions: new Set(on(index).map(({ liveId }) => liveId)) })),
    whole: {
      deviceOf,
      passTime: (model) => slowest(engines.map((engine) => engine.passTime(model))),
      // Undefined, as of a single engine, while one of them is being restarted.
      pid: () => (engines.some((engine) => engine.pid() === undefined) ? undefined : engines[0]?.pid()),
      close: async () => void (await Promise.all(engines.map((engine) => engine.close()))),
    },
  }
}
