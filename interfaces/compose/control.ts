import { join } from 'node:path'
import type { Logger } from '../../application/ports/environment.ts'
import type { Projector } from '../../application/ports/projector.ts'
import { openControlSocket } from '../../infrastructure/control-socket.ts'

/** The file of the data directory through which the command line reaches the service that holds it. */
export const controlPath = (dataDir: string): string => join(dataDir, 'control.sock')

interface ControlOptions {
  readonly dataDir: string
  readonly projector: Pick<Projector, 'rebuild'>
  readonly logger: Logger
}

/** What the command line may ask of the running service. One that cannot be asked serves all the same. */
export const openControl = async ({ dataDir, projector, logger }: ControlOptions): Promise<{ readonly close: () => Promise<void> }> => {
  try {
    return await openControlSocket(controlPath(dataDir), { rebuild: projector.rebuild })
  } catch (error) {
    logger.warn({ err: error }, 'the command line cannot reach this service: commands that change its data are refused while it runs')
    return { close: async () => undefined }
  }
}
