import { numberedEngine } from './numbered-words.ts'

/** Replaces the client of the engine process: each export stands for the export of the product with this name. */
export const createSpeechEngine = () => numberedEngine()

export const startSpeechEngines = () => [numberedEngine()] as const
