/** For `node --import`: replaces the speech engine of the service by an engine that transcribes numbered words. */
import { registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'
import { join } from 'node:path'

const CLIENT = 'infrastructure/onnx/process/engine-client.ts'
const REPLACEMENT = pathToFileURL(join(import.meta.dirname, 'numbered-engine-client.ts')).href

registerHooks({
  resolve: (specifier, context, next) => {
    const resolved = next(specifier, context)
    return resolved.url.endsWith(CLIENT) ? { ...resolved, url: REPLACEMENT } : resolved
  },
})
