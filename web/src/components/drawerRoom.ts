// How much of the window's right edge a drawer takes: what is beside it makes room.
import { ref } from 'vue'

export const drawerRoom = ref(0)
