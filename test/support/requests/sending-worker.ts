import { Agent, request } from 'node:http'
import { parentPort } from 'node:worker_threads'
import type { RequestInput } from './largest-inputs.ts'

/** Sends requests from another thread, so that the measured thread only answers them. */
const agent = new Agent({ keepAlive: true })

parentPort?.on('message', ({ url, input }: { readonly url: string; readonly input: RequestInput }) => {
  const { method, target, headers, body } = input
  const sent = request(`${url}${target}`, { agent, method, headers }, (response) => {
    response.resume().on('end', () => parentPort?.postMessage(response.statusCode))
  })
  sent.on('error', () => parentPort?.postMessage(0))
  sent.end(body ?? undefined)
})
