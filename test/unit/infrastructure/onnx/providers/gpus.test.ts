import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { readGpus } from '../../../../../infrastructure/onnx/providers/gpus.ts'
import { temporaryDirectory } from '../../../../support/tools/temporary-directory.ts'

const withoutNvidia = (): Promise<string> => Promise.reject(new Error('spawn nvidia-smi ENOENT'))

test('the memory of GPUs is read from their drivers', async (t) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  for (const [card, total] of [['card0', 8 * 2 ** 30], ['card1', 0]] as const) {
    await mkdir(join(path, card, 'device'), { recursive: true })
    if (total > 0) await writeFile(join(path, card, 'device/mem_info_vram_total'), `${total}\n`)
  }
  await writeFile(join(path, 'card0/device/mem_info_vram_used'), `${2 ** 30}\n`)
  await mkdir(join(path, 'card0-HDMI-A-1'))
  const amd = { name: 'card0', memory: 8192, used: 1024 }
  t.deepEqual(await readGpus({ nvidia: withoutNvidia, cards: path }), [amd])
  const nvidia = async (): Promise<string> => 'NVIDIA H200, 143771, 4\nNVIDIA H200 MIG 1g.18gb, [N/A], [N/A]\n'
  t.deepEqual(await readGpus({ nvidia, cards: path }), [{ name: 'NVIDIA H200', memory: 143_771, used: 4 }, amd])
  t.deepEqual(await readGpus({ nvidia: withoutNvidia, cards: join(path, 'nowhere') }), [])
})
