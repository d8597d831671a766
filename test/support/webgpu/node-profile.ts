import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** One run of a node in onnxruntime's profile. */
export interface ProfiledNode {
  readonly graph: string
  readonly provider: string
  readonly type: string
  /** Element types of its inputs. */
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

/** Returns all runs of nodes in a folder of profiles. */
export const readProfiles = async (folder: string): Promise<ReadonlyArray<ProfiledNode>> => {
  const files = await readdir(folder)
  const nodes = await Promise.all(
    files.map(async (file) => {
      const events = JSON.parse(await readFile(join(folder, file), 'utf8')) as ReadonlyArray<ProfileEvent>
      return events.flatMap(
        ({
          cat,
          args: { provider, op_name: type, input_type_shape: inputs = [] } = {},
        }): ReadonlyArray<ProfiledNode> => {
          if (cat !== 'Node' || provider === undefined || type === undefined) return []
          return [
            {
              graph: file.split('.', 1)[0] ?? file,
              provider,
              type,
              reads: inputs.flatMap((input) => Object.keys(input)),
            },
          ]
        },
      )
    }),
  )
  return nodes.flat()
}

/** Returns whether a node computes positions or shapes, which onnxruntime always does on the CPU. */
export const computesShapes = ({ type, reads }: ProfiledNode): boolean =>
  type === 'Shape' || reads.every((read) => !read.startsWith('float'))
