
/host:metadata
¶/device:GPU:0ÀStream #13(Compute)è"g€‰zÀðõ"*fusion.3"8	"F*Bregs:16 static_shared:0 dynamic_shared:64 grid:4,2,1 block:256,1,1";€áëÀ–±"-*)kind_src:device kind_dst:pinned size:4096XLA Ops"loop_fusion"	MemcpyD2H"fusion.3*ð.*Ð*
hlo_op*
hlo_module*kernel_details*memcpy_details*	flops*bytes_accessed*		jit_step