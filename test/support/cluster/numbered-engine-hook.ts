/** For `node --import`: a service whose engine hears numbered words, whatever model it is asked for. */
import { registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'
import { join } from 'node:path'

const CLIENT = 'infrastructure/onnx/process/engine-client.ts'
const INSTEAD = pathToFileURL(join(import.meta.dirname, 'numbered-engine-client.ts')).href

registerHooks({
  resolve: (specifier, context, next) => {
    const resolved = next(specifier, context)
    return resolved.url.endsWith(CLIENT) ? { ...resolved, url: INSTEAD } : resolved
  },
})
