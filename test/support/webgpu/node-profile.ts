import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A node of a graph as onnxruntime's profile tells of each of its runs. */
export interface ProfiledNode {
  readonly graph: string
  readonly provider: string
  readonly type: string
  /** Element types of what it read. */
  readonly reads: ReadonlyArray<string>
}

interface ProfileEvent {
  readonly cat: string
  readonly args?: {
    readonly provider?: string
    readonly op_name?: string
    readonly input_type_shape?: ReadonlyArray<Readonly<Record<string, unknown>>>
  }
}

/** All runs of nodes in a folder of profiles. */
export const readProfiles = async (folder: string): Promise<ReadonlyArray<ProfiledNode>> => {
  const files = await readdir(folder)
  const nodes = await Promise.all(
    files.map(async (file) => {
      const events = JSON.parse(await readFile(join(folder, file), 'utf8')) as ReadonlyArray<ProfileEvent>
      return events.flatMap(({ cat, args: { provider, op_name: type, input_type_shape: inputs = [] } = {} }): ReadonlyArray<ProfiledNode> => {
        if (cat !== 'Node' || provider === undefined || type === undefined) return []
        return [{ graph: file.split('.', 1)[0] ?? file, provider, type, reads: inputs.flatMap((input) => Object.keys(input)) }]
      })
    }),
  )
  return nodes.flat()
}

/** Positions and shapes, which onnxruntime computes on the CPU wherever the rest runs: whole numbers, and the shape of what lies elsewhere. */
export const isOfShapes = ({ type, reads }: ProfiledNode): boolean => type === 'Shape' || reads.every((read) => !read.startsWith('float'))
