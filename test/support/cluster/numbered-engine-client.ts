import { numberedEngine } from './numbered-words.ts'

/** In place of the client of the engine's process. */
export const createSpeechEngine = () => numberedEngine()
