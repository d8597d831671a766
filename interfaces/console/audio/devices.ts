/** Browsers have microphones for pages of https and localhost alone. */
export const hasMicrophones = (): boolean => navigator.mediaDevices !== undefined

/** Microphones by id; their names are known once one was allowed. */
export const microphones = async (): Promise<ReadonlyArray<{ readonly id: string; readonly name: string }>> => {
  if (!hasMicrophones()) return []
  const devices = await navigator.mediaDevices.enumerateDevices()
  return devices.filter(({ kind, deviceId }) => kind === 'audioinput'
    && deviceId !== '').map(({ deviceId: id, label: name }) => ({ id, name }))
}
